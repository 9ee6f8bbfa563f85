import { Notice } from '../components/state-panels.tsx';
import { useConnection } from '../stores/connection.ts';

const words = {
  silent: {
    title: 'Disconnected from Touchstone.',
    remedy: 'Start it again. Your work is kept here.',
  },
  locked: {
    title: 'Touchstone restarted. This browser is not signed in.',
    remedy: 'Open the address from the terminal in another tab. This window then reconnects and keeps your work.',
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
