import { useQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { QueryView } from '../components/state-panels.tsx';
import { useHost } from '../host/host-context.tsx';
import { useUpdates } from '../queries/settings.ts';
import { settingsAddress } from './addresses.ts';
import { closeOverlay, useOverlay } from './overlay-state.ts';

/** Loaded when the dialog opens: the texts are long and few people read them. */
function useLicences() {
  return useQuery({
    queryKey: ['licences'],
    staleTime: Infinity,
    queryFn: async () => {
      const { own, packages, texts } = await import('virtual:third-party-licences');
      const others = packages.map((each) => ({ ...each, text: texts[each.text] ?? '' }));
      return [{ title: 'Touchstone', licence: 'MIT', text: own }, ...others];
    },
  });
}

/** The text renders only while it is open: together the licences have half a million characters. */
function Licence({ title, licence, text }: { title: string; licence: string; text: string }) {
  const [isOpen, setOpen] = useState(false);
  const name = (
    <>
      <span className="mono--small truncate grow">{title}</span>
      <span className="small tertiary nowrap">{licence}</span>
    </>
  );
  if (text === '') return <li className="about__licence row">{name}</li>;
  return (
    <li>
      <button type="button" className="about__licence row" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
        {name}
      </button>
      {isOpen && <pre className="about__text mono--small">{text}</pre>}
    </li>
  );
}

function Licences() {
  const licences = useLicences();
  return (
    <QueryView query={licences} subject="the licences">
      {(all) => (
        <ul className="about__licences scroll" tabIndex={0} aria-label="Licences">
          {all.map((licence) => (
            <Licence key={licence.title} {...licence} />
          ))}
        </ul>
      )}
    </QueryView>
  );
}

/** Version, updates and licences. */
export function About() {
  const isOpen = useOverlay(({ open }) => open === 'about');
  const { version } = useHost();
  const { data: updates } = useUpdates();
  const isChecked = updates !== undefined && updates.status !== 'off';
  return (
    <Dialog title="About Touchstone" isOpen={isOpen} onClose={closeOverlay} isWide>
      <div className="about">
        <dl className="facts facts--loose">
          <div>
            <dt>Version</dt>
            <dd>{version}</dd>
          </div>
          <div>
            <dt>Updates</dt>
            <dd>{isChecked ? 'Checked automatically' : 'Not checked automatically'}</dd>
          </div>
        </dl>
        <p className="small secondary">
          Touchstone contacts no update server unless you turn that on in{' '}
          <Link href={settingsAddress('updates')} className="link" onClick={closeOverlay}>
            Settings, Updates
          </Link>
          . To update by hand, install a newer version over this one, or update the folder you start it from. Your data
          folder stays as it is. Make a backup first in{' '}
          <Link href={settingsAddress('data')} className="link" onClick={closeOverlay}>
            Settings, Data and backup
          </Link>
          .
        </p>
        <h3 className="section-title">Licences</h3>
        <Licences />
        <p className="caption tertiary">Fonts, models and data sets are listed in NOTICE.md.</p>
      </div>
    </Dialog>
  );
}
