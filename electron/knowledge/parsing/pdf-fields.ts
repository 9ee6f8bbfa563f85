import type { PDFPageProxy } from 'unpdf/pdfjs';
import type { PdfLine } from './pdf-layout.ts';

/** The properties of PDF.js annotations that are read here; it declares them as `any`. */
interface Annotation {
  readonly subtype?: string;
  /** Bits of the PDF standard: 2 hidden, 6 not shown on screens. */
  readonly annotationFlags?: number;
  readonly rect?: readonly number[];
  readonly contentsObj?: { readonly str?: string };
  readonly textContent?: readonly string[];
  readonly fieldType?: string;
  readonly fieldName?: string;
  readonly fieldValue?: unknown;
  readonly alternativeText?: string;
  readonly password?: boolean;
  readonly hidden?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly buttonValue?: string;
  readonly options?: readonly { readonly exportValue?: string; readonly displayValue?: string }[];
}

const hiddenFlags = 0b10_0010;

/** Names that a form editor generated say nothing about the value. */
const generatedName =
  /^(?:f\d|c\d|text|textfield|text field|field|check ?box|combo ?box|undefined|untitled)[\s_.\d-]*$/i;
const maxNameCharacters = 200;

function isShown({ annotationFlags = 0, hidden, password }: Annotation): boolean {
  return (annotationFlags & hiddenFlags) === 0 && !hidden && !password;
}

/** The label of the field; null if the form only has generated names. */
function nameOf({ alternativeText, fieldName }: Annotation): string | null {
  const tooltip = alternativeText?.trim();
  if (tooltip) return tooltip.slice(0, maxNameCharacters);
  // `form1[0].Page1[0].Name[0]`: the last part is the field's own.
  const own = fieldName
    ?.split('.')
    .at(-1)
    ?.replaceAll(/\[\d+\]/g, '')
    .trim();
  return own && /\p{L}{2}/u.test(own) && !generatedName.test(own) ? own.slice(0, maxNameCharacters) : null;
}

function valuesOf({ fieldValue }: Annotation): string[] {
  const values: readonly unknown[] = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
  return values.filter((value): value is string => typeof value === 'string' && value.trim() !== '');
}

function fieldText(field: Annotation): string | null {
  const values = valuesOf(field);
  let value = values.join(', ').trim();
  if (field.fieldType === 'Btn') {
    const isOn = field.radioButton ? value === field.buttonValue : field.checkBox === true && value !== 'Off';
    if (!isOn) return null;
  } else if (field.fieldType === 'Ch') {
    const shown = (own: string) => field.options?.find(({ exportValue }) => exportValue === own)?.displayValue ?? own;
    value = values.map(shown).join(', ');
  } else if (field.fieldType !== 'Tx') return null;
  if (value === '') return null;
  const name = nameOf(field);
  return name === null ? value : `${name}: ${value}`;
}

function freeText({ contentsObj, textContent }: Annotation): string | null {
  return contentsObj?.str?.trim() || textContent?.join('\n').trim() || null;
}

function textOf(annotation: Annotation): string | null {
  if (!isShown(annotation)) return null;
  if (annotation.subtype === 'Widget') return fieldText(annotation);
  return annotation.subtype === 'FreeText' ? freeText(annotation) : null;
}

/** Filled form fields and free-text annotations, which aren't part of the page's text; from top to bottom. */
export async function fieldsOfPage(page: PDFPageProxy): Promise<PdfLine[]> {
  const annotations = (await page.getAnnotations()) as Annotation[];
  const texts = annotations
    .toSorted(
      ({ rect: one }, { rect: other }) => (other?.[3] ?? 0) - (one?.[3] ?? 0) || (one?.[0] ?? 0) - (other?.[0] ?? 0),
    )
    .flatMap((annotation) => textOf(annotation) ?? []);
  // A field may have several widgets with the same value.
  return [...new Set(texts)].map((text) => ({
    page: page.pageNumber,
    text,
    cells: [text],
    x: 0,
    y: 0,
    width: 0,
    size: 0,
    relativeHeight: 0.5,
    isField: true,
  }));
}
