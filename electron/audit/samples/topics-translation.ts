import type { SampleTopic } from './sample-topic.ts';

const translate = 'Translate into {{language}}. Keep names, numbers and line breaks.\n\n{{text}}';

export const translationTopics: readonly SampleTopic[] = [
  {
    name: 'Dispatch message, [product]',
    team: 'localisation',
    language: 'en',
    systemMessage: 'You translate for an outdoor shop. Address customers politely.',
    promptText: translate,
    replacements: {
      language: 'German',
      text: 'Your [product] is on its way.\nIt should reach [city] on [day].\nQuestions? Write to [email].',
    },
    answer:
      'Ihr Artikel „[product]“ ist unterwegs.\nEr sollte am [day] in [city] eintreffen.\nFragen? Schreiben Sie an [email].',
    next: [
      {
        instruction: 'Now into French.',
        answer:
          'Votre [product] est en route.\nLa livraison à [city] est prévue le [day].\nUne question ? Écrivez à [email].',
      },
      {
        instruction: 'And into Dutch.',
        answer:
          'Uw [product] is onderweg.\nDe levering in [city] wordt verwacht op [day].\nVragen? Schrijf naar [email].',
      },
    ],
  },
  {
    name: 'Eigentumsvorbehalt auf Englisch, [city]',
    team: 'localisation',
    language: 'de',
    systemMessage: null,
    promptText: translate,
    replacements: {
      language: 'English',
      text: 'Die Ware bleibt bis zur vollständigen Bezahlung unser Eigentum. Gerichtsstand ist, soweit zulässig, [city].',
    },
    answer:
      'The goods remain our property until they have been paid for in full. As far as the law permits, the courts of [city] have jurisdiction.',
    next: [
      {
        instruction: 'Is "retention of title" the usual term here?',
        answer:
          'Yes: the clause is a retention of title. In terms and conditions for consumers the plain sentence is easier to read; a heading "Retention of title" above it serves both.',
      },
    ],
  },
  {
    name: 'Care label, [product]',
    team: 'localisation',
    language: 'es',
    systemMessage: null,
    promptText: translate,
    replacements: {
      language: 'Spanish',
      text: 'Wash at 30 °C, do not tumble dry. Reproof after every tenth wash.',
    },
    answer: 'Lavar a 30 °C, no usar secadora. Volver a impermeabilizar cada diez lavados.',
    next: [
      {
        instruction: 'Italian and Dutch too, as a table.',
        answer:
          '| Language | Text |\n|---|---|\n| Italian | Lavare a 30 °C, non asciugare in asciugatrice. Reimpermeabilizzare ogni dieci lavaggi. |\n| Dutch | Wassen op 30 °C, niet in de droger. Na elke tiende wasbeurt opnieuw impregneren. |',
      },
    ],
  },
  {
    name: 'Bericht aan [person] nakijken',
    team: 'localisation',
    language: 'nl',
    systemMessage: null,
    promptText: 'Verbeter spelling en stijl, verander niets aan de betekenis.\n\n{{text}}',
    replacements: {
      text: 'Beste [person], wij hebben u order [order] ontvange en gaan hem zo snel mogelijk verstuuren naar [city].',
    },
    answer: 'Beste [person], we hebben uw bestelling [order] ontvangen en versturen die zo snel mogelijk naar [city].',
    next: [],
  },
];
