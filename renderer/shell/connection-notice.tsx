import { Notice } from '../components/state-panels.tsx';
import { useConnection } from '../stores/connection.ts';

const words = {
  silent: {
    title: 'Touchstone does not answer.',
    remedy: 'Start it again. What you typed here is kept, and this window says how it goes on.',
  },
  locked: {
    title: 'Touchstone was started again and does not know this browser yet.',
    remedy:
      'Open the address that it printed in the terminal, in another tab of this browser. This window then goes on as it is, with all that you typed.',
  },
} as const;

/** Above the open screen for as long as the host gives this window no answers: why, and what to do. */
export function ConnectionNotice() {
  const connection = useConnection((state) => state.connection);
  if (connection === 'there') return null;
  const { title, remedy } = words[connection];
  return (
    <div className="window__notice">
      <Notice tone="negative">
        <strong>{title}</strong> {remedy}
      </Notice>
    </div>
  );
}
