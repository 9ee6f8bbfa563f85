import {
  Archive,
  CircleFadingArrowUp,
  Cpu,
  Database,
  Disc,
  KeyRound,
  Waypoints,
  Network,
  Plug,
  Route,
  ShieldCheck,
  SunMoon,
  Users,
  type LucideIcon,
} from 'lucide-react';
import { keyedProviders } from '../../../shared/contract/common.ts';
import { embeddingProviders } from '../../../shared/contract/settings.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { SettingsPageId } from '../../shell/addresses.ts';

export interface SettingsPageEntry {
  id: SettingsPageId;
  title: string;
  icon: LucideIcon;
  /** Search keywords of the page. */
  keywords: readonly string[];
}

/** The pages in the order of the list; `settings-screen.tsx` gives each its component. */
export const settingsPages: readonly [SettingsPageEntry, ...SettingsPageEntry[]] = [
  {
    id: 'providers',
    title: 'Providers and keys',
    icon: KeyRound,
    keywords: [
      ...keyedProviders,
      ...keyedProviders.map(providerName),
      'keychain',
      'base URL',
      'time limits',
      'timeout',
      'gateway',
    ],
  },
  {
    id: 'endpoints',
    title: 'Compatible endpoints',
    icon: Plug,
    keywords: [
      'Ollama',
      'LM Studio',
      'vLLM',
      'llama.cpp',
      'OpenAiCompatible',
      'OpenAI-compatible',
      'custom prices',
      'gateway',
      'local',
    ],
  },
  {
    id: 'service-models',
    title: 'Built-in models',
    icon: Route,
    keywords: ['ServiceAi', 'hl-gpt-4o-mini', 'hl-gpt-4.1-mini', 'route'],
  },
  {
    id: 'on-device',
    title: 'On-device models',
    icon: Cpu,
    keywords: ['GGUF', 'download', 'offline', 'Hugging Face', 'TinyLlama'],
  },
  {
    id: 'embeddings',
    title: 'Embeddings',
    icon: Waypoints,
    keywords: ['vectors', 'knowledge', 'sources', 'search', ...embeddingProviders],
  },
  {
    id: 'api-keys',
    title: 'API keys',
    icon: Users,
    keywords: ['callers', 'credits', 'limit', 'scopes', 'revoke', 'create'],
  },
  {
    id: 'local-server',
    title: 'Local server',
    icon: Network,
    keywords: ['port', 'TLS', 'HTTP/2', 'curl', 'address', 'listener'],
  },
  {
    id: 'recording',
    title: 'Recording',
    icon: Disc,
    keywords: ['OpenAI', 'Anthropic', 'base URL', 'SDK', 'proxy', 'redact', 'metadata', 'programs'],
  },
  {
    id: 'team',
    title: 'Team database',
    icon: Database,
    keywords: [
      'PostgreSQL',
      'copy',
      'share',
      'auditors',
      'reviewers',
      'members',
      'server',
      'password',
      'certificate',
      'sync',
    ],
  },
  {
    id: 'data',
    title: 'Data and backup',
    icon: Archive,
    keywords: [
      'folder',
      'database',
      'restore',
      'copy',
      'size',
      'retention',
      'delete',
      'anonymise',
      'old runs',
      'sample data',
    ],
  },
  {
    id: 'privacy',
    title: 'Privacy',
    icon: ShieldCheck,
    keywords: ['stored', 'hosts', 'network', 'contacted', 'telemetry', 'tracking', 'data', 'proxy', 'logs', 'drafts'],
  },
  { id: 'appearance', title: 'Appearance', icon: SunMoon, keywords: ['theme', 'dark', 'light', 'motion'] },
  { id: 'updates', title: 'Updates', icon: CircleFadingArrowUp, keywords: ['new version', 'upgrade', 'install'] },
];
