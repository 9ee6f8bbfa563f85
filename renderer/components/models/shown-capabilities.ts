import { Braces, Brain, Image, Wrench, type LucideIcon } from 'lucide-react';
import type { Model } from '../../../shared/contract/providers.ts';

export type Capability = Model['capabilities'][number];

/** What a model can do, as the picker shows and filters it. */
export const shownCapabilities: readonly { id: Capability; label: string; icon: LucideIcon }[] = [
  { id: 'tools', label: 'Tools', icon: Wrench },
  { id: 'images', label: 'Vision', icon: Image },
  { id: 'reasoning', label: 'Reasoning', icon: Brain },
  { id: 'structured-output', label: 'JSON schema', icon: Braces },
];
