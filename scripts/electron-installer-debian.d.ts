declare module 'electron-installer-debian' {
  export default function createDebianInstaller(options: object): Promise<{ readonly packagePaths: readonly string[] }>;
}
