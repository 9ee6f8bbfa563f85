/** Writes a moment as a person in a time zone reads it: `22 Nov 2026, 03:12:45 CET`. */
export type Clock = (timestamp: string) => string;

/** The zone belongs to the pack, so that the same pack is the same bytes on every machine. */
export function createClock(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  });
  return (timestamp) => format.format(new Date(timestamp));
}
