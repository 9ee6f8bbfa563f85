/** What is said of every subject of a domain; `{name}` is the subject, other braces are values that differ from subject to subject. */
interface Aspect {
  readonly passage: string;
  /** Ask for it in other words. */
  readonly questions: readonly string[];
}

/** Subjects that have the same things said about them: only name and aspect together lead to the right passage. */
export interface Grid {
  readonly title: string;
  readonly subjects: readonly string[];
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly aspects: readonly Aspect[];
}

const minutes = ['four', 'six', 'eight', 'twelve', 'fifteen', 'twenty', 'twenty-five', 'forty'];
const days = ['three', 'five', 'seven', 'ten', 'fourteen', 'twenty', 'thirty', 'sixty'];
const amounts = ['45', '80', '120', '175', '240', '310', '465', '590', '725', '910'];
const people = [
  'A. Lindqvist',
  'M. Okafor',
  'J. Hartmann',
  'S. Pereira',
  'T. Nakagawa',
  'R. Dubois',
  'E. Kowalski',
  'N. Haddad',
];

export const grids: readonly Grid[] = [
  {
    title: 'Appliances',
    subjects: [
      'Varna 210',
      'Varna 310',
      'Kestrel K7',
      'Kestrel K9',
      'Oslo Compact',
      'Oslo Grande',
      'TR-88',
      'TR-90',
      'Mirela S',
      'Mirela XL',
    ],
    values: {
      minutes,
      days,
      amounts,
      light: ['orange', 'green', 'red', 'blue', 'white', 'purple'],
      litres: ['2', '4', '6', '9', '11', '14'],
    },
    aspects: [
      {
        passage:
          'To restore the factory settings of the {name}, hold the round button until the lamp turns {light}. All programs that were stored are lost.',
        questions: [
          'How do I wipe everything and start over with my {name}?',
          'Which signal shows that the {name} has been reset?',
        ],
      },
      {
        passage:
          'The filter of the {name} is rinsed under cold water every {days} days. It is ready for use again when it has dried in the air.',
        questions: [
          'How often does the sieve in the {name} have to be washed?',
          'When must I clean the part of the {name} that catches dirt?',
        ],
      },
      {
        passage:
          'The tank of the {name} holds {litres} litres. Do not fill it above the upper line, or water runs out at the back.',
        questions: ['What amount of liquid fits into the {name}?', 'Why does my {name} leak?'],
      },
      {
        passage:
          'Spare parts for the {name} are kept in stock for ten years. A new door seal costs {amounts} crowns and is pressed in by hand.',
        questions: ['What do I pay for a replacement gasket of the {name}?', 'Can I still repair an old {name}?'],
      },
      {
        passage:
          'After {minutes} minutes without use the {name} switches itself off. The interval can be changed in the menu under Energy.',
        questions: [
          'How long until the {name} goes to sleep by itself?',
          'My {name} turns off too early, where is that adjusted?',
        ],
      },
      {
        passage:
          'Children may use the {name} from the age of eight if someone watches them. The hot plate stays warm for {minutes} minutes.',
        questions: ['Is the {name} safe for kids?', 'When has the {name} cooled down?'],
      },
    ],
  },
  {
    title: 'Branch offices',
    subjects: ['Tallinn', 'Porto', 'Gdansk', 'Bergen', 'Trieste', 'Ghent', 'Cork', 'Malmo', 'Graz', 'Lyon'],
    values: { minutes, days, amounts, people, floor: ['first', 'second', 'third', 'fourth', 'fifth'] },
    aspects: [
      {
        passage:
          'Annual leave in the {name} office is {days} days on top of the legal minimum. Days that are left lapse in March.',
        questions: [
          'How much extra holiday do staff in {name} get?',
          'Until when can people in {name} take vacation from last year?',
        ],
      },
      {
        passage: 'The {name} office is led by {people}. The deputy is chosen by the team for two years.',
        questions: ['Who is the boss in {name}?', 'How does {name} find its second in command?'],
      },
      {
        passage: 'Parking in {name} costs {amounts} euros a month. Bicycles stand in the cellar for free.',
        questions: [
          'What is the price for leaving my car at the site in {name}?',
          'Where do cyclists put their bikes in {name}?',
        ],
      },
      {
        passage:
          'Lunch in {name} is served on the {floor} floor from noon. Dishes without meat are marked with a leaf.',
        questions: ['Where can I eat in {name}?', 'How do vegetarians recognise their food in {name}?'],
      },
      {
        passage: 'The fire drill in {name} takes place in May. The building has to be empty within {minutes} minutes.',
        questions: [
          'How fast must everybody leave the premises in {name} during the exercise?',
          'In which month does {name} practise an evacuation?',
        ],
      },
      {
        passage:
          'Travel from {name} is booked through the desk there and approved by {people} when it costs more than {amounts} euros.',
        questions: [
          'Who has to sign off expensive trips of the {name} team?',
          'Above what sum does a journey from {name} need consent?',
        ],
      },
    ],
  },
  {
    title: 'Venues',
    subjects: [
      'Alder Hall',
      'Birch Hall',
      'the Round Room',
      'the Mill',
      'Studio 4',
      'Studio 7',
      'the Orangery',
      'the Old Dairy',
      'Pier House',
    ],
    values: { minutes, days, amounts, people, seats: ['24', '36', '60', '85', '110', '160', '220', '340'] },
    aspects: [
      {
        passage: '{name} has {seats} seats in rows. For a dinner at tables about half as many guests find room.',
        questions: ['How many people can sit in {name}?', 'Is {name} large enough for a banquet?'],
      },
      {
        passage: 'Hiring {name} costs {amounts} pounds an evening. Schools and charities pay two thirds.',
        questions: ['What do we pay to rent {name} for a night?', 'Is there a discount on {name} for a good cause?'],
      },
      {
        passage:
          'Bookings of {name} can be cancelled without charge up to {days} days ahead. After that the whole sum is due.',
        questions: [
          'Until when can I call off my event in {name} for free?',
          'What happens if I withdraw late from {name}?',
        ],
      },
      {
        passage: 'The keys of {name} are handed over by {people}. They are put into the box at the gate afterwards.',
        questions: ['Who lets me into {name}?', 'Where do I leave what opens {name} when I am done?'],
      },
      {
        passage:
          'In {name} music has to end at eleven. A limiter cuts the power after {minutes} minutes of too loud sound.',
        questions: ['How late may a band play in {name}?', 'Why did the electricity fail in {name} during the party?'],
      },
      {
        passage:
          'The stage of {name} was rebuilt last year and carries two tonnes. A ramp for wheelchairs leads up from the left.',
        questions: [
          'Can a disabled speaker get onto the platform in {name}?',
          'What weight does the podium in {name} bear?',
        ],
      },
    ],
  },
  {
    title: 'Services',
    subjects: ['Harbour', 'Lantern', 'Quill', 'Sparrow', 'Granite', 'Tidal', 'Ember', 'Cobalt', 'Juniper', 'Northgate'],
    values: { minutes, days, amounts, people, port: ['7043', '7144', '8210', '8432', '9090', '9317', '9555'] },
    aspects: [
      {
        passage: 'Logs of {name} are kept for {days} days and then deleted. An export goes to the archive on request.',
        questions: [
          'How long is the history of {name} available?',
          'After which time is the record of what {name} did gone?',
        ],
      },
      {
        passage: '{name} listens on port {port}. Traffic from outside passes the gateway and is encrypted.',
        questions: ['To which address do I connect to reach {name}?', 'Is communication with {name} secure?'],
      },
      {
        passage:
          'If {name} does not answer, {people} is called. A replacement starts by itself within {minutes} minutes.',
        questions: ['Who is on duty when {name} is down?', 'How quickly does {name} recover from an outage?'],
      },
      {
        passage:
          'A caller of {name} may send {amounts} requests a minute. More are refused with a note when to try again.',
        questions: ['What is the rate limit of {name}?', 'Why does {name} reject my calls?'],
      },
      {
        passage:
          'New versions of {name} are rolled out on Tuesdays, first to a tenth of the users. The old one stays ready for {days} days.',
        questions: ['When is {name} updated?', 'Can we go back to the previous release of {name}?'],
      },
      {
        passage: 'Data of {name} is stored twice, in two towns. It is restored from a copy every quarter to practise.',
        questions: [
          'Is {name} protected against the loss of a building?',
          'Do we rehearse recovering backups of {name}?',
        ],
      },
    ],
  },
];
