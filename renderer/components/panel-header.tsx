import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export interface PanelHeaderProps {
  title: ReactNode;
  /** Beside the title, in tertiary text. */
  detail?: ReactNode;
  line?: 'top' | 'bottom' | 'none';
  /** Controls at the right end. */
  children?: ReactNode;
}

/** 32 pixels: the title of a panel and its few controls. */
export function PanelHeader({ title, detail, line = 'none', children }: PanelHeaderProps) {
  return (
    <div className={classNames('header', line === 'bottom' && 'header--line', line === 'top' && 'line-top')}>
      <h2>{title}</h2>
      {detail && <span className="caption tertiary truncate">{detail}</span>}
      <span className="grow" />
      {children}
    </div>
  );
}
