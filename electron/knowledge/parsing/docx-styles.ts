import { Parser } from 'htmlparser2';
import { createDepthLimit } from './parsed-source.ts';
import type { DocxArchive } from './docx-archive.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void;
  close(name: string): void;
  text?(data: string): void;
}

/**
 * Reads the XML of a Word document in chunks, without building a tree. Resolves only XML's five entities and character references;
 * entities that a document type declares, internal or external, stay unchanged.
 */
export async function readXml(chunks: AsyncIterable<string>, handler: XmlHandler): Promise<void> {
  const depth = createDepthLimit('The Word document');
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth.open();
        handler.open(name, attributes);
      },
      onclosetag(name) {
        depth.close();
        handler.close(name);
      },
      ontext: (data) => handler.text?.(data),
    },
    { xmlMode: true },
  );
  for await (const chunk of chunks) parser.write(chunk);
  parser.end();
}

/** The properties of a paragraph's style that affect its text. */
export interface DocxStyle {
  /** 0 a title, 1 the outermost heading; `null` for everything else. */
  readonly headingLevel: number | null;
  /** Its list; `null` outside of lists. */
  readonly list: { readonly id: string; readonly level: number } | null;
}

interface DefinedStyle {
  basedOn: string | null;
  name: string;
  outlineLevel: number | null;
  listId: string | null;
  listLevel: number;
}

/** Limits styles that are based on each other in a circle. */
const maxAncestors = 20;

function headingLevelOf(style: DefinedStyle): number | null {
  const named = /^heading (\d)$/i.exec(style.name)?.[1];
  if (named) return Number(named);
  if (/^title$/i.test(style.name)) return 0;
  return style.outlineLevel !== null && style.outlineLevel < 9 ? style.outlineLevel + 1 : null;
}

/** Finds the properties of a style, its own and inherited ones. */
export async function readStyles(archive: DocxArchive): Promise<(id: string) => DocxStyle> {
  const styles = new Map<string, DefinedStyle>();
  let open: DefinedStyle | null = null;
  await readXml(archive.read('word/styles.xml'), {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:style') {
        open = { basedOn: null, name: '', outlineLevel: null, listId: null, listLevel: 0 };
        styles.set(attributes['w:styleId'] ?? '', open);
      } else if (!open) return;
      else if (name === 'w:name') open.name = value;
      else if (name === 'w:basedOn') open.basedOn = value;
      else if (name === 'w:outlineLvl') open.outlineLevel = Number(value);
      else if (name === 'w:numId') open.listId = value;
      else if (name === 'w:ilvl') open.listLevel = Number(value) || 0;
    },
    close(name) {
      if (name === 'w:style') open = null;
    },
  });

  return (id) => {
    let headingLevel: number | null = null;
    let list: DocxStyle['list'] = null;
    let style = styles.get(id);
    for (let count = 0; style && count < maxAncestors; count += 1) {
      headingLevel ??= headingLevelOf(style);
      if (style.listId !== null) list ??= { id: style.listId, level: style.listLevel };
      style = style.basedOn === null ? undefined : styles.get(style.basedOn);
    }
    return { headingLevel, list };
  };
}

/** Whether the items of a list are numbered; the others have bullets. */
export async function readNumbering(archive: DocxArchive): Promise<(listId: string, level: number) => boolean> {
  const numbered = new Map<string, Set<number>>();
  const definitionOf = new Map<string, string>();
  let definition = '';
  let list = '';
  let level = 0;
  await readXml(archive.read('word/numbering.xml'), {
    open(name, attributes) {
      if (name === 'w:abstractNum') {
        definition = attributes['w:abstractNumId'] ?? '';
        numbered.set(definition, new Set());
      } else if (name === 'w:lvl') level = Number(attributes['w:ilvl']) || 0;
      else if (name === 'w:numFmt' && !['bullet', 'none'].includes(attributes['w:val'] ?? '')) {
        numbered.get(definition)?.add(level);
      } else if (name === 'w:num') list = attributes['w:numId'] ?? '';
      else if (name === 'w:abstractNumId') definitionOf.set(list, attributes['w:val'] ?? '');
    },
    close() {},
  });
  return (listId, ofLevel) => numbered.get(definitionOf.get(listId) ?? '')?.has(ofLevel) ?? false;
}
