/** Made by `scripts/vite-licences.ts` at the build. */
declare module 'virtual:third-party-licences' {
  /** The text of Touchstone's own licence. */
  export const own: string;
  /** Empty for packages that have no licence file. */
  export const texts: readonly string[];
  export const packages: readonly {
    readonly title: string;
    readonly licence: string;
    /** The index of its text in `texts`. */
    readonly text: number;
  }[];
}
