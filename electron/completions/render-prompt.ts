import type { Warning } from '../../shared/contract/completions.ts';
import { renderTemplate, parseTemplate } from '../../shared/prompt-template.ts';
