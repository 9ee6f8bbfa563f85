import { stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { invalidField } from '../../shared/app-error.ts';
import type { CatalogueModel } from './model-catalogue.ts';
import { isGgufFile } from './model-file.ts';
import type { AddedModel } from './model-records.ts';

/** `hf:<user>/<model>`, then `:<quantization>` or `/<path>.gguf` and perhaps `#<revision>`. */
const huggingFaceAddress = /^hf:[\w.-]+\/([\w.-]+)(?::([\w.-]+)|\/([\w.-][\w./-]*\.gguf)(?:#[\w./-]+)?)?$/;

/** Reads what a person typed. Throws `invalid_request` naming `address`. */
export async function readAddedModel(address: string): Promise<AddedModel> {
  if (address.startsWith('hf:')) return readHuggingFaceAddress(address);
  if (isAbsolute(address)) return readFileAddress(address);
  throw invalidField(
    'address',
    'must be an absolute path or an hf: address',
    'Enter the full path of a GGUF file, or an address such as hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF:Q4_K_M.',
  );
}

function readHuggingFaceAddress(address: string): AddedModel {
  const match = huggingFaceAddress.exec(address);
  if (!match || address.includes('..') || address.includes('//')) {
    throw invalidField(
      'address',
      'must have the form hf:<user>/<model>:<quantization> or hf:<user>/<model>/<file>.gguf',
      'Enter the address as hf:<user>/<model>:<quantization> or hf:<user>/<model>/<file>.gguf.',
    );
  }
  const [, model, quantization, path] = match;
  const fileName = path ? basename(path) : `${[model, quantization].filter(Boolean).join('-')}.gguf`;
  return { id: fileName, title: fileName.replace(/\.gguf$/, ''), fileName, source: { kind: 'hugging-face', address } };
}

async function readFileAddress(path: string): Promise<AddedModel> {
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) {
    throw invalidField('address', 'is not a file', 'File not found on this device, or Touchstone may not read it.');
  }
  if (!(await isGgufFile(path))) {
    throw invalidField('address', 'is not a GGUF file', "This isn't a GGUF file, or Touchstone may not read it.");
  }
  const fileName = basename(path);
  return { id: fileName, title: fileName.replace(/\.gguf$/i, ''), fileName, source: { kind: 'file', path } };
}

/** A model that the person brought, in the catalogue's form. */
export function toCatalogueModel({ id, title, fileName, source }: AddedModel): CatalogueModel {
  const note =
    source.kind === 'file' ? 'A file on this machine, used in place.' : 'Added by you. Needs an open network.';
  return {
    id,
    title,
    fileName,
    source,
    note,
    bytes: null,
    memoryBytes: null,
    contextTokens: null,
    sha256: null,
    licence: null,
  };
}
