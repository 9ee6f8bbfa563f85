import { Link } from 'wouter';
import { Info } from 'lucide-react';
import type { Batch, CategoryScores, CheckedText } from '../../../shared/contract/moderation-window.ts';
import {
  categories,
  type Category,
  type ModerationClassifier,
  type ModerationPreset,
  moderationPresets,
} from '../../../shared/contract/moderation.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { formatCount, formatDuration } from '../../components/format.ts';
import { remedyAddress, type ServedRun } from '../../components/remedies.ts';
import { Notice } from '../../components/state-panels.tsx';
import { categoryNames, classifierName, classifierLocation, judgedScores } from './categories.tsx';
import { cardFigures, type FlaggedShare } from './quality-figures.ts';
import { ScoreLevels } from './score-levels.tsx';
import { Segmented } from '../../components/choices.tsx';
import { Popover } from '../../components/popover.tsx';

/** Strengths and limits of the on-device classifier, with its measurements. */
function ModelCard() {
  return (
    <Popover
      label="About the on-device classifier"
      trigger={<IconButton icon={Info} label="About the on-device classifier" size="small" />}
    >
      <div className="moderation-card">
        <h3 className="strong">On-device classifier</h3>
        <p className="small secondary">
          Shows a reviewer which texts to read first. Don&apos;t use it alone to make decisions about people. Strict
          misses the least, Lenient has the fewest false alarms.
        </p>
        <table className="grid">
          <thead>
            <tr>
              <th>Precision / recall</th>
              <th className="right">Strict</th>
              <th className="right">Balanced</th>
              <th className="right">Lenient</th>
            </tr>
          </thead>
          <tbody>
            {cardFigures.map(({ category, presets }) => (
              <tr key={category}>
                <td>{categoryNames[category].name}</td>
                {moderationPresets.map((preset) => (
                  <td key={preset} className="right numbers nowrap">
                    {presets[preset].precision} / {presets[preset].recall}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        <ul className="small secondary">
          <li>
            Cross-validated on 843 texts of OpenAI&apos;s public set; slightly optimistic: also used for model
            selection.
          </li>
          <li>Flags this many of 554 harmless texts: Strict 12.1%, Balanced 4.2%, Lenient 0.9%.</li>
          <li>English only. Scores of other languages mean little.</li>
          <li>Misses irony, veiled threats and what needs a whole conversation. People can deliberately evade it.</li>
          <li>More false alarms on very short texts, sex education, art and recovery from self-harm.</li>
        </ul>
      </div>
    </Popover>
  );
}

const names: Record<ModerationPreset, string> = { strict: 'Strict', balanced: 'Balanced', lenient: 'Lenient' };

const hints: Record<ModerationPreset, string> = {
  strict: 'Misses the least, with the most false alarms',
  balanced: 'Best balance of precision and recall',
  lenient: 'Fewest false alarms, misses the most',
};

interface PresetChoiceProps {
  /** Null if a person set other thresholds. */
  preset: ModerationPreset | null;
  onPreset: (preset: ModerationPreset) => void;
  isMeasured: boolean;
}

/** Three presets of thresholds, or custom ones. */
function PresetChoice({ preset, onPreset, isMeasured }: PresetChoiceProps) {
  const hint = isMeasured ? preset && hints[preset] : 'Same for each category; not measured for this classifier';
  return (
    <div className="levels__presets">
      <Segmented
        label="Preset"
        value={preset ?? ('custom' as ModerationPreset)}
        onValueChange={onPreset}
        options={moderationPresets.map((value) => ({ value, label: names[value] }))}
      />
      <span className="caption tertiary">{preset === null ? 'Custom thresholds' : hint}</span>
    </div>
  );
}

/** The result of one classifier for the open text. */
export interface ShownVerdict {
  readonly classifier: ModerationClassifier;
  readonly scores: CategoryScores | null;
  /** Null if it was not measured for this text alone. */
  readonly milliseconds: number | null;
  readonly failure: CheckedText['failure'];
}

interface AgreementProps {
  verdicts: readonly ShownVerdict[];
  thresholds: CategoryScores;
  batch: Batch | undefined;
  share: FlaggedShare;
}

function Agreement({ verdicts, thresholds, batch, share }: AgreementProps) {
  const [first, second] = verdicts.map(({ classifier, scores }) => judgedScores(classifier, scores));
  const both = first && second ? categories.filter((each) => each in first && each in second) : null;
  const agree = both?.filter((each) => first![each]! >= thresholds[each] === second![each]! >= thresholds[each]);
  const isBoth = batch !== undefined && batch.classifiers.length > 1;
  return (
    <dl className="agree">
      {verdicts.map(({ classifier, milliseconds, failure }, index) => (
        <div key={index}>
          <dt>
            {'AB'[index]}, {classifierName(classifier)}
          </dt>
          <dd>
            {failure ? 'failed, ' : milliseconds === null ? '' : `${formatDuration(milliseconds)}, `}
            {classifierLocation(classifier)}
          </dd>
        </div>
      ))}
      {(agree || isBoth) && (
        <div>
          <dt>Agree</dt>
          <dd>
            {agree && `${agree.length} of ${both!.length} here`}
            {agree && isBoth && ', '}
            {isBoth && `${formatCount(share.compared - share.differ.length)} of ${formatCount(share.compared)} texts`}
          </dd>
        </div>
      )}
    </dl>
  );
}

/** The provider of a classifier; null for the on-device one. */
function servedRun(classifier: ModerationClassifier): ServedRun | null {
  if (classifier.kind === 'on-device') return null;
  const aiSystem = { 'open-ai': 'OpenAi', mistral: 'OpenAiCompatible' } as const;
  const system = classifier.kind === 'model' ? classifier.aiSystem : aiSystem[classifier.kind];
  return { aiSystem: system, model: classifier.model, servedBy: null };
}

/** Links to the missing setting of the classifier: its provider's key, the endpoints, or the on-device models. */
function SettingsLink({ code, classifier }: { code: string; classifier: ModerationClassifier }) {
  const run = servedRun(classifier);
  const address = run && remedyAddress(code, run);
  if (address === null) return null;
  return (
    <Link className="link" href={address}>
      Open settings
    </Link>
  );
}

export interface ScoresPanelProps extends AgreementProps {
  onThreshold: (category: Category, value: number) => void;
  onCategory: (category: Category) => void;
  /** Null if a person set other thresholds. */
  preset: ModerationPreset | null;
  onPreset: (preset: ModerationPreset) => void;
  /** Whether the presets come from measurements, as those of the on-device classifier do. */
  isMeasured: boolean;
  /** Whether the thresholds differ from those of the service. */
  isMoved: boolean;
  onReset: () => void;
  onSave: () => void;
  isSaving: boolean;
}

/** Scores with movable thresholds, and the button that saves them for the service. */
export function ScoresPanel(props: ScoresPanelProps) {
  const { verdicts, thresholds, preset, isMeasured, onPreset, isMoved, onReset, onSave, isSaving, ...rest } = props;
  const [first, second] = verdicts;
  return (
    <>
      <div className="header header--line">
        <h2>Scores and thresholds</h2>
        <ModelCard />
        <span className="grow" />
        {isMoved && (
          <>
            <Button size="small" variant="quiet" onClick={onReset}>
              <span className="wide-only">Reset thresholds</span>
              <span className="narrow-only">Reset</span>
            </Button>
            <Button size="small" isBusy={isSaving} onClick={onSave}>
              Save as service thresholds
            </Button>
          </>
        )}
      </div>
      {verdicts.map(
        ({ failure, classifier }, index) =>
          failure && (
            <Notice key={index} tone="negative">
              {'AB'[index]}, {classifierName(classifier)}: {failure.message}{' '}
              <SettingsLink code={failure.code} classifier={classifier} />
            </Notice>
          ),
      )}
      <PresetChoice preset={preset} onPreset={onPreset} isMeasured={isMeasured} />
      <ScoreLevels
        first={first ? judgedScores(first.classifier, first.scores) : null}
        second={second ? judgedScores(second.classifier, second.scores) : null}
        hasSecond={second !== undefined}
        thresholds={thresholds}
        onThreshold={rest.onThreshold}
        onCategory={rest.onCategory}
      />
      {verdicts.length > 0 && (
        <Agreement verdicts={verdicts} thresholds={thresholds} batch={rest.batch} share={rest.share} />
      )}
    </>
  );
}
