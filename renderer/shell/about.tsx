import { useQuery } from '@tanstack/react-query';
import { Dialog } from '../components/dialog.tsx';
import { QueryView } from '../components/query-view.tsx';
import { useHost } from '../host/host-context.tsx';
import { closeOverlay, useOverlay } from './overlay-state.ts';

/** Loaded when the dialog opens: the list is long and few people read it. */
function useThirdPartyLicences() {
  return useQuery({
    queryKey: ['third-party-licences'],
    staleTime: Infinity,
    queryFn: async () => (await import('virtual:third-party-licences')).packages,
  });
}

function Licences() {
  const licences = useThirdPartyLicences();
  return (
    <QueryView query={licences} subject="the third-party licences">
      {(packages) => (
        <div className="about__licences scroll" tabIndex={0} role="region" aria-label="Third-party licences">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Package</th>
                <th scope="col">Licence</th>
              </tr>
            </thead>
            <tbody>
              {packages.map(({ title, licence }) => (
                <tr key={title}>
                  <td className="mono--small">{title}</td>
                  <td>{licence}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </QueryView>
  );
}

/** Version, updates and licences. */
export function About() {
  const isOpen = useOverlay(({ open }) => open === 'about');
  const { version } = useHost();
  return (
    <Dialog title="About Touchstone" isOpen={isOpen} onClose={closeOverlay} isWide>
      <div className="about">
        <dl className="facts facts--loose">
          <div>
            <dt>Version</dt>
            <dd>{version}</dd>
          </div>
          <div>
            <dt>Licence</dt>
            <dd>MIT</dd>
          </div>
          <div>
            <dt>Automatic updates</dt>
            <dd>Off</dd>
          </div>
        </dl>
        <p className="small secondary">
          To update, install a newer version over this one, or update the folder you start it from. Your data folder
          stays as it is. Make a backup first in Settings, Data and backup.
        </p>
        <h3 className="section-title">Third-party licences</h3>
        <Licences />
        <p className="caption tertiary">
          Fonts, models and data sets are listed in NOTICE.md. Installed versions contain all licence texts in
          THIRD-PARTY-LICENSES.txt.
        </p>
      </div>
    </Dialog>
  );
}
