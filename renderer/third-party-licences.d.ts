/** Made by `scripts/vite-licences.ts` at the build. */
declare module 'virtual:third-party-licences' {
  export const packages: readonly { readonly title: string; readonly licence: string }[];
}
