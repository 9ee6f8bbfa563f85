import type { DocxStyle } from './docx-styles.ts';
import { createDocxTables, isOn } from './docx-tables.ts';
import type { DocumentWriter } from './document-writer.ts';

import type { XmlAttributes, XmlHandler } from './xml-events.ts';

export interface DocxDefinitions {
  readonly styleOf: (id: string) => DocxStyle;
  readonly isNumbered: (listId: string, level: number) => boolean;
}

interface OpenParagraph {
  pieces: string[];
  styleId: string;
  outlineLevel: number | null;
  listId: string | null;
  listLevel: number;
}

/** What stands in for a text in case it cannot be shown, was moved away, or is a field's formula. */
const dropped = new Set(['mc:Fallback', 'w:moveFrom', 'w:instrText', 'w:delText', 'w:del']);

type Setter = (paragraph: OpenParagraph, attributes: XmlAttributes) => void;

const setters: Readonly<Record<string, Setter>> = {
  'w:pStyle': (paragraph, attributes) => {
    paragraph.styleId = attributes['w:val'] ?? '';
  },
  'w:outlineLvl': (paragraph, attributes) => {
    paragraph.outlineLevel = Number(attributes['w:val']);
  },
  'w:numId': (paragraph, attributes) => {
    paragraph.listId = attributes['w:val'] ?? null;
  },
  'w:ilvl': (paragraph, attributes) => {
    paragraph.listLevel = Number(attributes['w:val']) || 0;
  },
  'w:tab': (paragraph) => paragraph.pieces.push(' '),
  'w:br': (paragraph) => paragraph.pieces.push('\n'),
  'w:cr': (paragraph) => paragraph.pieces.push('\n'),
  'w:noBreakHyphen': (paragraph) => paragraph.pieces.push('-'),
};

/** Takes the tags of a Word document's text in order and writes its paragraphs, headings, list items and tables. */
export function createDocxText(writer: DocumentWriter, { styleOf, isNumbered }: DocxDefinitions): XmlHandler {
  /** A box of text stands within the paragraph that it is tied to. */
  const paragraphs: OpenParagraph[] = [];
  const tables = createDocxTables(writer);
  const counters = new Map<string, number>();
  let droppedDepth = 0;
  let isInText = false;
  let isInRun = false;
  let isHidden = false;

  function marker(listId: string, level: number): string {
    if (!isNumbered(listId, level)) return '-';
    const key = `${listId}/${level}`;
    const number = (counters.get(key) ?? 0) + 1;
    counters.set(key, number);
    for (const deeper of counters.keys()) {
      const [ofList, ofLevel] = deeper.split('/');
      if (ofList === listId && Number(ofLevel) > level) counters.delete(deeper);
    }
    return `${number}.`;
  }

  function writeParagraph(paragraph: OpenParagraph): void {
    const text = paragraph.pieces.join('');
    if (text.trim() === '' || tables.take(text)) return;
    const style = styleOf(paragraph.styleId);
    const own = paragraph.outlineLevel;
    const level = own === null ? style.headingLevel : own < 9 ? own + 1 : null;
    const list = paragraph.listId === null ? style.list : { id: paragraph.listId, level: paragraph.listLevel };
    if (level !== null) writer.heading(level, text);
    else if (list && list.id !== '0') writer.item(`${marker(list.id, list.level)} ${text}`);
    else writer.paragraph(text);
  }

  function openTag(name: string, attributes: XmlAttributes): void {
    const paragraph = paragraphs.at(-1);
    if (name === 'w:p') paragraphs.push({ pieces: [], styleId: '', outlineLevel: null, listId: null, listLevel: 0 });
    else if (name === 'w:t') isInText = true;
    else if (name === 'w:r') {
      isInRun = true;
      isHidden = false;
    } else if (name === 'w:vanish' && isInRun) isHidden = isOn(attributes);
    // The same name is also that of a tab stop, among a paragraph's settings.
    else if (paragraph && (name !== 'w:tab' || isInRun)) setters[name]?.(paragraph, attributes);
    tables.open(name, attributes);
  }

  function closeTag(name: string): void {
    if (name === 'w:p') writeParagraph(paragraphs.pop()!);
    else if (name === 'w:t') isInText = false;
    else if (name === 'w:r') {
      isInRun = false;
      isHidden = false;
    }
    tables.close(name);
  }

  return {
    open(name, attributes) {
      if (droppedDepth > 0 || dropped.has(name)) droppedDepth += 1;
      else openTag(name, attributes);
    },
    close(name) {
      if (droppedDepth > 0) droppedDepth -= 1;
      else closeTag(name);
    },
    text(data) {
      if (isInText && !isHidden && droppedDepth === 0) paragraphs.at(-1)?.pieces.push(data);
    },
  };
}
