import type { SampleTopic } from './sample-topic.ts';

const support =
  'You answer customers of Nordwind Outdoor. Be friendly and brief, promise nothing that the policy does not say.';
const reply = 'Write a reply to {{customer}}.\n\nOrder: {{order}}\nTheir message:\n{{message}}';
const kundendienst =
  'Du beantwortest Anfragen an Nordwind Outdoor. Sei freundlich und knapp und versprich nichts, was nicht in den Richtlinien steht.';
const antwort = 'Antworte {{customer}} zur Bestellung {{order}}.\n\n{{message}}';

export const supportTopics: readonly SampleTopic[] = [
  {
    name: 'Torn seam on the [product], [person]',
    team: 'support',
    language: 'en',
    systemMessage: support,
    promptText: reply,
    replacements: {
      customer: '[person]',
      order: '[order]',
      message:
        'Hello, my [product] came on [day] with a torn seam near the zip. I leave for [city] in a week and need it for the trip. Can you send another one before then? You can reach me at [email] or [phone].',
    },
    answer:
      'Hello [person],\n\nI am sorry about the torn seam, that should not have left our warehouse. I have set aside a new [product] for you and it can leave today, so it reaches you within three working days, well before [city].\n\nPlease keep the damaged one until the new parcel is there; the label for sending it back is in that parcel and costs you nothing. Your order [order] is already marked, so you need not explain anything again.\n\nKind regards\nNordwind Outdoor',
    next: [
      {
        instruction: 'Shorter, and without the sentence about the warehouse.',
        answer:
          'Hello [person],\n\nI am sorry about the torn seam. A new [product] leaves today and reaches you within three working days, before you set off for [city]. The return label for the damaged one lies in the parcel.\n\nKind regards\nNordwind Outdoor',
      },
      {
        instruction: 'Add that a refund is possible instead, within 14 days of the return.',
        answer:
          'Hello [person],\n\nI am sorry about the torn seam. A new [product] leaves today and reaches you within three working days. If you would rather have your money back, send the damaged one with the label from the parcel and we refund [amount] within 14 days of its arrival.\n\nKind regards\nNordwind Outdoor',
      },
    ],
  },
  {
    name: 'Charged twice for [order]',
    team: 'support',
    language: 'en',
    systemMessage: support,
    promptText: reply,
    replacements: {
      customer: '[person]',
      order: '[order]',
      message:
        'I was charged twice for the same order: [amount] on [day] and the same again a day later, both on my card [card]. Please fix this, it is quite a lot of money for me.',
    },
    answer:
      'Hello [person],\n\nthank you for telling us. I can see both bookings for [order]. The second one is a reservation that was never collected; your bank releases it by itself, usually within five working days.\n\nIf it is still there after that, write back with the date and we will send your bank a release form the same day. Please do not send your full card number in an e-mail, the last four digits are enough for us.\n\nKind regards\nNordwind Outdoor',
    next: [
      {
        instruction: 'The customer sounds worried. Put the reassurance first and the explanation second.',
        answer:
          'Hello [person],\n\nyou will pay only once: the second [amount] is a reservation and your bank releases it within about five working days. Nothing needs to be done on your side.\n\nShould it still be there afterwards, write back and we send your bank a release form the same day. The last four digits of the card are enough for us.\n\nKind regards\nNordwind Outdoor',
      },
    ],
  },
  {
    name: 'Sorting: parcel of [order] not received',
    team: 'support',
    language: 'en',
    systemMessage: null,
    promptText:
      'Put this message into one of the categories delivery, refund, damage, account, praise, other. Answer as JSON with the fields "category", "urgency" (1 to 5) and "reason".\n\n{{message}}',
    replacements: {
      message:
        'Third time I write about order [order]. The parcel service says it was handed to a neighbour, nobody here has it. I want my [amount] back, to account [iban].',
    },
    answer:
      '{"category": "refund", "urgency": 4, "reason": "Third message about a parcel that did not arrive; the customer asks for the money back and names a bank account."}',
    next: [
      {
        instruction: 'Also give the sentiment, from -1 to 1.',
        answer:
          '{"category": "refund", "urgency": 4, "sentiment": -0.7, "reason": "Third message about a parcel that did not arrive; the customer asks for the money back and names a bank account."}',
      },
    ],
  },
  {
    name: 'Umtausch gegen Größe [size], [person]',
    team: 'support',
    language: 'de',
    systemMessage: kundendienst,
    promptText: antwort,
    replacements: {
      customer: '[person]',
      order: '[order]',
      message:
        'Guten Tag, die Schuhe sind leider eine Nummer zu klein. Kann ich sie gegen [size] tauschen, und wer zahlt den Rückversand? Sie erreichen mich unter [phone].',
    },
    answer:
      'Guten Tag [person],\n\ngern tauschen wir die Schuhe gegen Größe [size]. Der Rückversand ist für Sie kostenlos: Drucken Sie den Schein aus Ihrem Kundenkonto aus oder zeigen Sie den QR-Code in der Filiale vor.\n\nSobald das Paket bei uns eingescannt ist, geht die neue Größe am selben Tag hinaus. Ihre Bestellung [order] bleibt dabei bestehen, Sie zahlen nichts erneut.\n\nFreundliche Grüße\nNordwind Outdoor',
    next: [
      {
        instruction: 'Bitte in einfacher Sprache, mit kurzen Sätzen.',
        answer:
          'Guten Tag [person],\n\nSie möchten andere Schuhe. Das geht. Die Größe [size] ist da.\n\nSo machen Sie es: Drucken Sie den Schein aus. Kleben Sie ihn auf das Paket. Geben Sie das Paket ab. Das kostet nichts.\n\nDann schicken wir die neuen Schuhe. Sie zahlen nicht noch einmal.\n\nFreundliche Grüße\nNordwind Outdoor',
      },
    ],
  },
  {
    name: 'Wo bleibt [order]?',
    team: 'support',
    language: 'de',
    systemMessage: kundendienst,
    promptText: antwort,
    replacements: {
      customer: '[person]',
      order: '[order]',
      message:
        'Seit [day] steht meine Sendung auf „in Zustellung“. Ich bin extra zu Hause geblieben. Wann kommt das Paket nun wirklich? Meine Adresse ist [street], [city].',
    },
    answer:
      'Guten Tag [person],\n\nes tut uns leid, dass Sie vergeblich gewartet haben. Das Paket zu [order] liegt seit gestern im Verteilzentrum; ein Fahrzeug ist ausgefallen. Nach Auskunft des Paketdienstes wird es morgen zwischen 9 und 13 Uhr zugestellt.\n\nWenn Sie dann nicht zu Hause sind, können Sie über den Link in der Versandnachricht eine Abholstelle wählen.\n\nFreundliche Grüße\nNordwind Outdoor',
    next: [],
  },
  {
    name: 'Facture reçue, [product] absent',
    team: 'support',
    language: 'fr',
    systemMessage: 'Tu réponds aux clients de Nordwind Outdoor, avec courtoisie et en peu de mots.',
    promptText: 'Réponds à {{customer}} au sujet de la commande {{order}}.\n\n{{message}}',
    replacements: {
      customer: '[person]',
      order: '[order]',
      message:
        "Bonjour, j'ai reçu la facture mais pas le [product]. Pouvez-vous vérifier et me répondre à [email] ? Je pars le [day].",
    },
    answer:
      "Bonjour [person],\n\nmerci pour votre message. Votre [product] a quitté notre entrepôt hier, la facture est simplement arrivée avant le colis. La livraison est prévue sous deux jours ouvrés ; le lien de suivi vient de vous être renvoyé.\n\nSi le colis n'est pas là avant votre départ, répondez à ce message et nous le ferons garder en point relais.\n\nBien cordialement\nNordwind Outdoor",
    next: [
      {
        instruction: 'Plus chaleureux, mais pas plus long.',
        answer:
          "Bonjour [person],\n\npas d'inquiétude : votre [product] est en route et devrait être chez vous sous deux jours ouvrés. Le lien de suivi est dans votre boîte. Et si le départ arrive avant le colis, nous le ferons garder en point relais.\n\nBon voyage !\nNordwind Outdoor",
      },
    ],
  },
  {
    name: 'Devolución del [product], [person]',
    team: 'support',
    language: 'es',
    systemMessage: 'Respondes a clientes de Nordwind Outdoor con amabilidad y brevedad.',
    promptText: 'Responde a {{customer}} sobre el pedido {{order}}.\n\n{{message}}',
    replacements: {
      customer: '[person]',
      order: '[order]',
      message:
        'Hola, quiero devolver el [product] porque no es del color que aparece en la foto. ¿Me devuelven los [amount] completos?',
    },
    answer:
      'Hola, [person]:\n\nclaro que sí. Puede devolver el [product] durante los 30 días siguientes a la entrega y le reembolsamos los [amount] completos, siempre que esté sin usar y con la etiqueta. La devolución es gratuita desde cualquier punto de entrega.\n\nEl importe vuelve al mismo medio de pago entre tres y cinco días después de recibir el paquete.\n\nUn saludo\nNordwind Outdoor',
    next: [],
  },
];
