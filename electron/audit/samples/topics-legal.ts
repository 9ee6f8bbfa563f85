import type { SampleTopic } from './sample-topic.ts';

export const legalTopics: readonly SampleTopic[] = [
  {
    name: 'Leaving the contract with [company]',
    team: 'legal',
    language: 'en',
    systemMessage:
      'You help the legal department to read contracts. Quote the clause you rely on. Say when a question needs a lawyer.',
    promptText: 'Contract with {{party}}, clause {{clause}}:\n\n"{{text}}"\n\n{{question}}',
    replacements: {
      party: '[company]',
      clause: '11.2',
      text: 'Either party may terminate this Agreement for convenience upon ninety (90) days written notice. Fees for the then-current term are non-refundable, save where termination results from a material breach by the Supplier.',
      question: 'We want to leave at the end of [month]. What do we owe?',
    },
    answer:
      'You may leave without a reason, but only with **90 days\' written notice** ("upon ninety (90) days written notice"). Counted back from the end of [month], the notice must have arrived three months earlier.\n\nThe fees of the running term stay owed: they are "non-refundable, save where termination results from a material breach by the Supplier". Whether the outages of this year are a material breach is a question for a lawyer; collect the incident reports before you ask.',
    next: [
      {
        instruction: 'Draft the notice.',
        answer:
          'To [company]\n\nNotice of termination\n\nUnder clause 11.2 of the Agreement between our companies we terminate the Agreement for convenience with effect from the end of [month], which is not less than ninety days from the date of this notice. Please confirm receipt and the date of termination in writing to [email].\n\nWe reserve all rights, in particular under the last sentence of clause 11.2.\n\n[person]',
      },
      {
        instruction: 'Summarise for the management in two sentences.',
        answer:
          "We can leave the contract with [company] at the end of [month] with 90 days' notice, but we pay for the running term. A refund is possible only if their outages count as a material breach, which counsel should judge.",
      },
    ],
  },
  {
    name: 'Datenweitergabe an [company], [order]',
    team: 'legal',
    language: 'de',
    systemMessage: 'Du prüfst Texte auf personenbezogene Daten und nennst die Rechtsgrundlage. Keine Rechtsberatung.',
    promptText: 'Dürfen wir diese Angaben an {{recipient}} weitergeben?\n\n{{record}}',
    replacements: {
      recipient: '[company]',
      record:
        'Name: [person]\nAnschrift: [street], [city]\nTelefon: [phone]\nIBAN: [iban]\nGrund: Gewährleistungsfall [order]',
    },
    answer:
      'Für die Reparatur braucht [company] Name, Anschrift und den Grund; das deckt die Erfüllung des Vertrags (Art. 6 Abs. 1 Buchst. b DSGVO). Die Telefonnummer nur, wenn ein Termin vereinbart werden muss.\n\nDie **IBAN** wird dafür nicht gebraucht und bleibt bei uns (Datenminimierung, Art. 5 Abs. 1 Buchst. c). Falls [company] als Auftragsverarbeiter handelt, muss ein Vertrag nach Art. 28 vorliegen.',
    next: [
      {
        instruction: 'Schreibe den Datensatz so um, dass nur Nötiges darin steht.',
        answer: 'Name: [person]\nAnschrift: [street], [city]\nGrund: Gewährleistungsfall [order]',
      },
    ],
  },
  {
    name: 'Liability clause, [company]',
    team: 'legal',
    language: 'en',
    systemMessage: null,
    promptText:
      'Compare these two versions of a liability clause and list what changed in substance.\n\nA:\n{{before}}\n\nB:\n{{after}}',
    replacements: {
      before: "The Supplier's total liability shall not exceed the fees paid in the twelve months preceding the claim.",
      after:
        "The Supplier's total liability shall not exceed fifty per cent of the fees paid in the six months preceding the claim, and excludes loss of data.",
    },
    answer:
      '1. **Cap:** from 100 % to 50 % of the fees.\n2. **Period:** from twelve months to six. Together the cap falls to about a quarter.\n3. **Loss of data:** newly excluded, whatever its cause; version A had no exclusion.\n\nUnchanged: the cap is for all claims together and is counted from the claim, not from the damage.',
    next: [
      {
        instruction: 'Propose a middle way that we could accept.',
        answer:
          '"The Supplier\'s total liability shall not exceed the fees paid in the twelve months preceding the claim. Loss of data is limited to the cost of restoring it from the last backup that the Customer was obliged to make. These limits do not apply to intent and gross negligence."',
      },
    ],
  },
  {
    name: 'Clause de responsabilité, [company]',
    team: 'legal',
    language: 'fr',
    systemMessage: null,
    promptText: 'Explique cette clause à quelqu’un qui n’est pas juriste :\n\n« {{clause}} »',
    replacements: {
      clause:
        'Le Prestataire est tenu d’une obligation de moyens et ne saurait être tenu responsable des dommages indirects, notamment la perte de chiffre d’affaires.',
    },
    answer:
      'Le prestataire promet de **faire de son mieux**, pas d’atteindre un résultat. Si quelque chose échoue, c’est à vous de montrer qu’il a mal travaillé.\n\nEt même alors, il ne paie que le dommage direct, par exemple la réparation. Les ventes que vous avez manquées pendant la panne ne sont pas remboursées.',
    next: [],
  },
];
