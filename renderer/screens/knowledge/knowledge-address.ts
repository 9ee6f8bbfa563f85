/** What an address of the knowledge screen asks for. */
export interface KnowledgeAddress {
  /** Null where only a source is named: its dataspace is found with it. */
  dataspaceId: string | null;
  sourceId: string | null;
  /** The passage to show in its place, by offsets into the source's text. */
  passage: { start: number; end: number } | null;
}

/** Reads `/knowledge/<dataspace>` and `/knowledge/sources/<source>/<start>-<end>`. */
export function readKnowledgeAddress(location: string): KnowledgeAddress {
  const [, , first, sourceId, range] = location.split('/');
  if (first !== 'sources') return { dataspaceId: first || null, sourceId: null, passage: null };
  const [, start, end] = /^(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const passage = start === undefined ? null : { start: Number(start), end: Number(end) };
  return { dataspaceId: null, sourceId: sourceId || null, passage };
}
