import type { ReactNode } from 'react';

/** The width and the head of every settings page. */
export function SettingsPage({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <div className="settings__content">
      <h2 className="page-title">{title}</h2>
      {lead && <p className="secondary settings__lead">{lead}</p>}
      {children}
    </div>
  );
}

/** A titled section of a page; actions on the whole section are beside its title. */
export function SettingsSection({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <div className="settings__title">
        <h3>{title}</h3>
        <span className="grow" />
        {actions}
      </div>
      {children}
    </section>
  );
}

export interface SettingRowProps {
  label: ReactNode;
  /** Its effect, below the label. */
  detail?: ReactNode;
  /** The control at the right end. */
  children?: ReactNode;
}

/** One setting: its name and hint on the left, its control on the right. */
export function SettingRow({ label, detail, children }: SettingRowProps) {
  return (
    <div className="setting">
      <div className="grow">
        <p className="medium">{label}</p>
        {detail && <div className="small tertiary">{detail}</div>}
      </div>
      {children && <div className="setting__control">{children}</div>}
    </div>
  );
}
