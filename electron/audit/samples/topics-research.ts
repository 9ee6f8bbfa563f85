import type { SampleTopic } from './sample-topic.ts';

export const researchTopics: readonly SampleTopic[] = [
  {
    name: '[city] site up to [month]',
    team: 'research',
    language: 'en',
    systemMessage: 'You summarise for people who decide. Figures first, no adjectives.',
    promptText: 'Summarise in {{sentences}} sentences:\n\n{{text}}',
    replacements: {
      sentences: '3',
      text: 'Between January and [month] the [city] site handled 18,420 orders, 6 % more than in the same months of last year. Returns fell from 9.1 % to 7.4 %, mainly because the size advice moved above the button. The cost of a parcel rose by 0.31 EUR after the carrier changed its zones. [person] reports that two of five packing lines stood still for eleven days while the scanners were replaced. Without that the site would have reached its target of 19,000.',
    },
    answer:
      '[city] handled 18,420 orders up to [month], 6 % more than last year and 580 short of the target. Returns fell from 9.1 % to 7.4 % after the size advice was moved; a parcel costs 0.31 EUR more because of new carrier zones. Replacing the scanners stopped two of five lines for eleven days, which explains the gap to the target.',
    next: [
      {
        instruction: 'As three bullet points with a bold figure each.',
        answer:
          '- **18,420** orders in [city] up to [month]: 6 % more than last year, 580 short of the target.\n- **7.4 %** returns, down from 9.1 %, since the size advice stands above the button.\n- **11 days** without two of five lines while scanners were replaced: that is the gap.',
      },
      {
        instruction: 'Which of these statements is not supported by the text? "The new scanners are faster."',
        answer: 'That one. The text says that scanners were replaced and how long it took; nothing about their speed.',
      },
    ],
  },
  {
    name: 'Minutes: the move to [city]',
    team: 'research',
    language: 'en',
    systemMessage: null,
    promptText: 'Minutes of the meeting on {{topic}}. List decisions, owners and dates as a table.\n\n{{notes}}',
    replacements: {
      topic: 'the move to [city]',
      notes:
        'we agreed on moving in two waves, finance first. [person] gets three offers for the furniture until [day]. lease: legal checks the exit clause, no date yet. coffee machine postponed (again).',
    },
    answer:
      '| Decision | Owner | Until |\n|---|---|---|\n| Move in two waves, finance first | not named | not named |\n| Three offers for the furniture | [person] | [day] |\n| Check the exit clause of the lease | Legal | open |\n\nPostponed: the coffee machine.',
    next: [
      {
        instruction: 'Write the reminder for those with an open date.',
        answer:
          'Hello,\n\nin the minutes on the move to [city] two points have no date yet: who plans the two waves, and by when legal has looked at the exit clause of the lease. Please answer with a date by Thursday, so that the furniture can be ordered in time.\n\nThank you',
      },
    ],
  },
  {
    name: 'Names and amounts, [company]',
    team: 'research',
    language: 'en',
    systemMessage: null,
    promptText: 'Extract all names, organisations and amounts as JSON.\n\n{{text}}',
    replacements: {
      text: '[company] will pay [amount] to the [city] university for a study led by Dr [person]. Questions go to [email].',
    },
    answer: '{"names": ["Dr [person]"], "organisations": ["[company]", "[city] university"], "amounts": ["[amount]"]}',
    next: [],
  },
  {
    name: 'Umfrage zum [product]',
    team: 'research',
    language: 'de',
    systemMessage: null,
    promptText:
      'Fasse die Antworten auf die Frage „{{question}}“ zusammen und zähle, wie oft jedes Thema vorkommt.\n\n{{answers}}',
    replacements: {
      question: 'Was hat Sie am [product] gestört?',
      answers:
        '1) zu schwer für lange Touren\n2) Reißverschluss klemmt bei Kälte\n3) nichts\n4) Farbe verblasst\n5) Reißverschluss!!\n6) schwer, aber robust\n7) der Reißverschluss hakt',
    },
    answer:
      '| Thema | Nennungen |\n|---|---|\n| Reißverschluss klemmt, vor allem bei Kälte | 3 |\n| Gewicht | 2 |\n| Farbe verblasst | 1 |\n| Nichts | 1 |\n\nDrei von sieben nennen den Reißverschluss; nach ihm zuerst zu sehen, lohnt am meisten.',
    next: [
      {
        instruction: 'Eine Zeile für den Wochenbericht.',
        answer: '[product]: 3 von 7 Befragten stört der Reißverschluss bei Kälte, 2 das Gewicht.',
      },
    ],
  },
  {
    name: 'Product text: [product]',
    team: 'sales',
    language: 'en',
    systemMessage: 'You write for Nordwind Outdoor. Plain words, nothing that cannot be proved.',
    promptText: 'Write a product text for the {{product}}, {{words}} words, for people who {{audience}}.',
    replacements: { product: '[product]', words: '60', audience: 'walk to work in any weather' },
    answer:
      'Rain at eight, sun at noon: the [product] is made for days that change their mind. Its seams are taped, its pockets close, and it packs into its own hood when you do not need it. We mend it for as long as you own it. What it cannot do is make the rain stop, but you will mind it less.',
    next: [
      {
        instruction: 'Two alternatives for the first sentence.',
        answer:
          '1. Some mornings cannot decide, and the [product] does not mind.\n2. You do not choose the weather on your way to work; you choose the [product].',
      },
      {
        instruction:
          'Is "made for as long as you own it" a promise we can keep? Check against: repairs are free for ten years.',
        answer:
          'No. The text says "We mend it for as long as you own it", the policy ten years. Write instead: "We mend it free of charge for ten years."',
      },
    ],
  },
  {
    name: 'Presentazione del [product], [person]',
    team: 'sales',
    language: 'it',
    systemMessage: null,
    promptText: 'Scrivi un breve messaggio a {{customer}} per presentare {{product}}.',
    replacements: { customer: '[person]', product: '[product]' },
    answer:
      'Gentile [person],\n\nil nuovo [product] è arrivato nei nostri negozi. È più leggero del modello precedente, ha le cuciture nastrate e si ripara gratuitamente per dieci anni. Può provarlo a [city] fino al [day], senza impegno.\n\nA presto\nNordwind Outdoor',
    next: [],
  },
];
