import { Parser } from 'htmlparser2';
import { createDepthLimit } from './source-failure.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void;
  close(name: string): void;
  text?(data: string): void;
}

/**
 * Reads the XML of a Word document in chunks, without building a tree. Resolves only XML's five entities and character
 * references; entities that a document type declares, internal or external, stay as written.
 */
export async function readXml(pieces: AsyncIterable<string>, handler: XmlHandler): Promise<void> {
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
  for await (const piece of pieces) parser.write(piece);
  parser.end();
}
