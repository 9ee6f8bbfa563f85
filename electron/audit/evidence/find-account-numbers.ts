import { findWith, type Finder, type Place } from './found-places.ts';

/** The check of payment cards: every second digit from the right doubled, the sum divisible by ten. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const counted = index % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

const isLetterOrDigit = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Ends of the parts of a text, longest first, that hold a number of letters and digits and do not end inside a group. */
function* partsOf(text: string, least: number, most: number): Generator<string, void, void> {
  for (let end = text.length; end >= least; end -= 1) {
    if (!isLetterOrDigit(text[end - 1]) || isLetterOrDigit(text[end])) continue;
    const part = text.slice(0, end);
    const length = part.replaceAll(/[ -]/g, '').length;
    if (length >= least && length <= most) yield part;
  }
}

function beginning(match: RegExpExecArray, part: string): Place {
  return { start: match.index, end: match.index + part.length };
}

/** Card numbers begin with 2 to 6 and have 13 to 19 digits; what follows one, such as its date, may look like more of it. */
export const findCards: Finder = findWith(/(?<!\d)[2-6](?:[ -]?\d){12,22}(?!\d)/g, (match) => {
  for (const part of partsOf(match[0], 13, 19)) {
    if (passesLuhn(part.replaceAll(/\D/g, ''))) return beginning(match, part);
  }
  return null;
});

/** Length of an IBAN by country, as the registry of ISO 13616 has them. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

function passesModulus97(iban: string): boolean {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder === 1;
}

const findIbans: Finder = findWith(/(?<![\p{L}\p{N}])[A-Za-z]{2}\d\d(?:[ -]?[A-Za-z0-9]){11,30}/gu, (match) => {
  const length = ibanLengths[match[0].slice(0, 2).toUpperCase()];
  if (length === undefined) return null;
  for (const part of partsOf(match[0] + match.input.slice(match.index + match[0].length).slice(0, 1), length, length)) {
    if (passesModulus97(part.replaceAll(/[ -]/g, ''))) return beginning(match, part);
  }
  return null;
});

/** Numbers that the text itself calls an account, in the languages of the sample texts and a few more. */
const findNamedAccounts: Finder = findWith(
  /(?<![\p{L}\p{N}])(?:account|acct|a\/c|sort code|routing|konto(?:nummer|nr)?|kto|bankleitzahl|blz|compte|cuenta|conto|rekening|conta)(?:[ .:#°-]{0,3}(?:number|nummer|nr|no|num|numéro|número|numero|n|is|ist|est|es)(?![\p{L}\p{N}])){0,2}[ .:#°-]{0,3}(\d(?:[ -]?\d){4,19})(?![\p{L}\p{N}])/dgiu,
  (match) => {
    const [start, end] = match.indices![1]!;
    return { start, end };
  },
);

/** IBANs with right check digits, and numbers that are named as an account. */
export const findAccounts: Finder = (text) => {
  const ibans = findIbans(text);
  const isFree = ({ start, end }: Place) => ibans.every((iban) => end <= iban.start || start >= iban.end);
  return [...ibans, ...findNamedAccounts(text).filter(isFree)].toSorted((one, other) => one.start - other.start);
};
