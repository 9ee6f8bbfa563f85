declare module 'electron-installer-debian' {
  /** The steps are called in this order; each needs those before it. */
  export class Installer {
    readonly stagingDir: string;
    readonly options: { readonly packagePaths: readonly string[] };
    constructor(options: object);
    generateDefaults(): Promise<unknown>;
    generateOptions(): unknown;
    createStagingDir(): Promise<unknown>;
    createContents(): Promise<unknown>;
    createPackage(): Promise<unknown>;
    movePackage(): Promise<unknown>;
  }
}
