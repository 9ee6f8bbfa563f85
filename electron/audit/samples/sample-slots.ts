import type { Chance } from './chance.ts';

const people = [
  'Amara Okafor', 'Jonas Brandt', 'Sofia Lindqvist', 'Mateo Ruiz', 'Claire Fontaine', 'Daniel Weiss', 'Yuki Tanabe', 'Priya Raman',
  'Tomasz Zielinski', 'Hannah Becker', 'Luca Moretti', 'Eva de Vries', 'Samuel Adeyemi', 'Nina Kovac', 'Oliver Grant', 'Leila Haddad',
  'Marta Silva', 'Henrik Dahl', 'Julia Neumann', 'Paul Dubois',
]; // prettier-ignore
const cities = [
  'Hamburg',
  'Lyon',
  'Utrecht',
  'Graz',
  'Valencia',
  'Torino',
  'Malmö',
  'Leeds',
  'Basel',
  'Antwerp',
  'Porto',
  'Kraków',
];
const products = [
  'Fjell rain jacket',
  'Tinde backpack',
  'Sund sleeping bag',
  'Varde tent',
  'Skog boots',
  'Elv dry bag',
  'Lys headlamp',
];
const companies = [
  'Halden Logistics',
  'Brückner Reparatur GmbH',
  'Atelier Mercier',
  'Castellan Software',
  'Vega Textiles',
  'Northgate Fleet',
];
const streets = ['Lindenweg 14', 'Hafenstraße 3', 'Marktplatz 27', 'Am Rain 8', 'Gartenstraße 51'];
const days = ['Monday', '12 May', '3 June', 'Friday', '28 April', '17 September', 'Tuesday'];
const months = ['March', 'June', 'September', 'December'];
const modules = ['billing', 'catalogue', 'search', 'checkout', 'returns', 'pricing'];

// None of these reach anybody: reserved names and numbers, and the test numbers of payment services.
const phones = ['+49 30 23125 014', '+44 20 7946 0958', '+1 212 555 0182', '030 23125 771', '+33 1 99 00 12 34'];
const cards = ['4111 1111 1111 1111', '5500 0000 0000 0004', '3782 822463 10005'];
const ibans = ['DE89 3704 0044 0532 0130 00', 'GB82 WEST 1234 5698 7654 32', 'FR14 2004 1010 0505 0001 3M02 606'];

export type Slots = Readonly<Record<string, string>>;

/** What `[word]` stands for in one conversation. */
export function slotsOf(chance: Chance): Slots {
  const person = chance.pick(people);
  return {
    person,
    email: `${person.toLowerCase().replaceAll(/[^a-z]+/g, '.')}@example.com`,
    phone: chance.pick(phones),
    card: chance.pick(cards),
    iban: chance.pick(ibans),
    city: chance.pick(cities),
    street: chance.pick(streets),
    product: chance.pick(products),
    company: chance.pick(companies),
    module: chance.pick(modules),
    day: chance.pick(days),
    month: chance.pick(months),
    order: `NW-${chance.between(20_000, 98_999)}`,
    amount: `${chance.between(24, 480)}.${chance.pick(['00', '50', '90', '95'])} EUR`,
    size: String(chance.between(37, 47)),
    ip: `192.0.2.${chance.between(2, 250)}`,
  };
}

export function fill(text: string, slots: Slots): string {
  return text.replaceAll(/\[(\w+)\]/g, (whole, name: string) => slots[name] ?? whole);
}
