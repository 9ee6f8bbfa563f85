/** What a fetch tells while it works. */
export interface FetchProgress {
  readonly phase?: 'downloading' | 'checking';
  /** Bytes of the model's file that are here, whatever form they have on the way. */
  readonly receivedBytes?: number;
  /** Size of the file, where only the download tells it. */
  readonly bytes?: number;
  /** For people. */
  readonly step?: string;
}

/** What every way of fetching a model works with. */
export interface FetchContext {
  /** The models folder; it exists. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the server counts as gone. */
  readonly silenceMs: number;
  readonly report: (progress: FetchProgress) => void;
}
