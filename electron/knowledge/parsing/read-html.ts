import { Parser } from 'htmlparser2';
import { createDocumentWriter, type ReadDocument } from './document-writer.ts';
import { createHtmlText } from './html-text.ts';
import type { ReportProgress } from './read-document.ts';
import { createDepthLimit } from './parsed-source.ts';
import { decodeText } from './text-encoding.ts';

/** The parser is given the page in pieces, so that no more of it than these is in work at once. */
const pieceCharacters = 65_536;

const dropped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'canvas',
  'select',
]);

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const style = attributes['style'];
  return (
    attributes['hidden'] !== undefined ||
    attributes['aria-hidden'] === 'true' ||
    (style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style))
  );
}

function declaredEncoding(head: string): string | null {
  return /<meta[^>]{0,200}?charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(head)?.[1] ?? null;
}

/** What a page shows: without scripts, styles and what is hidden; nothing in it is run or fetched. */
export function readHtml(bytes: Uint8Array, report: ReportProgress): ReadDocument {
  const text = decodeText(bytes, declaredEncoding);
  const writer = createDocumentWriter();
  const page = createHtmlText(writer);
  /** How deep the parser is in something that is not shown; 0 when it is not. */
  let droppedDepth = 0;
  const depth = createDepthLimit('The HTML');
  const parser = new Parser({
    onopentag(name, attributes) {
      depth.open();
      if (droppedDepth > 0 || dropped.has(name) || isHidden(attributes)) droppedDepth += 1;
      else page.open(name, attributes);
    },
    onclosetag(name) {
      depth.close();
      if (droppedDepth > 0) droppedDepth -= 1;
      else page.close(name);
    },
    ontext(data) {
      if (droppedDepth === 0) page.text(data);
    },
  });
  for (let start = 0; start < text.length; start += pieceCharacters) {
    parser.write(text.slice(start, start + pieceCharacters));
    report(start / text.length);
  }
  parser.end();
  page.finish();
  return writer.finish();
}
