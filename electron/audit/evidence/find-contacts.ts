import { findWith, whole, type Finder } from './found-places.ts';

// Every repetition in these expressions has an upper bound: a hostile text costs a fixed number of steps a character.

const findWrittenEmails = findWith(
  /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
  whole,
);

export const findEmails: Finder = (text) => (text.includes('@') ? findWrittenEmails(text) : []);

const northAmerican = /^(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}$/;
const date = /^\d{1,2}([-./ ])\d{1,2}\1\d{2,4}$|^(?:19|20)\d\d([-./ ])(?:0?[1-9]|1[0-2])\2\d{1,2}(?!\d)/;
const octets = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Digits are a phone number when they say so: a country code with `+` or `00`, a leading zero, or the North American form.
 * Other long numbers are orders, amounts and dates.
 */
function isPhoneNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  if (digits < 7 || digits > 15 || date.test(text) || octets.test(text)) return false;
  if (/^(?:\+|00)/.test(text)) return digits >= 8;
  return /^\(?0[1-9]/.test(text) || northAmerican.test(text);
}

export const findPhones: Finder = findWith(
  /(?<![\p{L}\p{N}_+]|[\d.,:-](?=\d))\+?\(?\d(?:[ \t\u00a0()./-]{0,3}\d){6,16}(?![\p{L}\p{N}_]|[.,:-]\d)/gu,
  (match) => (isPhoneNumber(match[0]) ? whole(match) : null),
);
