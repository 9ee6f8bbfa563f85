import { Parser } from 'htmlparser2';

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void;
  close(name: string): void;
  text?(data: string): void;
}

/**
 * Reads XML piece by piece, without a tree. Only the five entities of XML itself and numbers are resolved: a document type's
 * own entities, outer ones too, stay what they are written as.
 */
export async function readXml(pieces: AsyncIterable<string>, handler: XmlHandler): Promise<void> {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => handler.open(name, attributes),
      onclosetag: (name) => handler.close(name),
      ontext: (data) => handler.text?.(data),
    },
    { xmlMode: true },
  );
  for await (const piece of pieces) parser.write(piece);
  parser.end();
}
