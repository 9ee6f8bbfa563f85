import { ArrowDown, ArrowUp, Copy, Ellipsis, Flag, Pencil, Plus, Settings2, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { maxVariants } from '../../../../shared/contract/comparisons.ts';
import type { PromptVersion } from '../../../../shared/contract/prompts.ts';
import { Badge } from '../../../components/badges.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { DataspaceChoice } from '../../../components/dataspace-choice.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatCost } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Menu } from '../../../components/menu.tsx';
import { modelKey } from '../../../components/models/model-list.ts';
import { ModelPicker } from '../../../components/models/model-picker.tsx';
import { ParametersPanel } from '../../../components/parameters-panel.tsx';
import { Popover } from '../../../components/popover.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { writeParameters } from '../../../drafts/parameter-model.ts';
import { accessAddress } from '../../../components/remedies.ts';
import { useModels } from '../../../queries/providers.ts';
import { settingsAddress } from '../../../shell/addresses.ts';
import type { VariantDraft } from '../../../stores/comparison-drafts.ts';
import { lastUsedModel } from '../../../stores/playground-drafts.ts';
import { PromptField } from './prompt-field.tsx';
import { useProblem, useProblemBelow, useSetup } from './setup-context.ts';
import { letterOf } from './setup-draft.ts';
import { VaryModels } from './vary-models.tsx';

type ChangeVariant = (change: Partial<VariantDraft>) => void;

interface PartProps {
  variant: VariantDraft;
  letter: string;
  onChange: ChangeVariant;
}

function ModelField({ variant, letter, onChange }: PartProps) {
  const [isOpen, setOpen] = useState(false);
  const choose = ({ aiSystem, name }: { aiSystem: VariantDraft['aiSystem']; name: string }): void => {
    onChange({ aiSystem, model: name });
    setOpen(false);
  };
  return (
    <>
      <button
        type="button"
        className="field field--small"
        aria-haspopup="dialog"
        aria-label={`Model of ${letter}: ${variant.model}`}
        onClick={() => setOpen(true)}
      >
        <span className="grow truncate">{variant.model}</span>
      </button>
      <ModelPicker
        isOpen={isOpen}
        chosenKey={modelKey({ aiSystem: variant.aiSystem, name: variant.model })}
        onChoose={choose}
        onChooseAndRun={choose}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

function parametersText({ parameters, otherParameters }: Pick<VariantDraft, 'parameters' | 'otherParameters'>): string {
  const set = Object.entries(parameters).filter(([, text]) => (text ?? '') !== '');
  const texts = set.map(([name, text]) => `${name} ${(text ?? '').startsWith('{') ? 'JSON' : text}`);
  if (otherParameters.trim() !== '') texts.push(otherParameters.includes('"tools"') ? 'tools' : 'more');
  return texts.length === 0 ? 'Default' : texts.join(', ');
}

function ParametersField({ variant, letter, onChange }: PartProps) {
  const model = useModels().data?.data.find(
    ({ aiSystem, name }) => aiSystem === variant.aiSystem && name === variant.model,
  );
  const text = parametersText(variant);
  return (
    <Popover
      label={`Parameters of ${letter}`}
      className="setup__parameters"
      trigger={
        <button type="button" className="field field--small" aria-label={`Parameters of ${letter}: ${text}`}>
          <span className="grow truncate mono--small">{text}</span>
          <Icon icon={Settings2} size="small" />
        </button>
      }
    >
      <ParametersPanel draft={variant} model={model ?? null} onChange={onChange} />
    </Popover>
  );
}

/** A model without a key or a download would stop the comparison at its first run. */
function NotReady({ variant }: { variant: VariantDraft }) {
  const model = useModels().data?.data.find(
    ({ aiSystem, name }) => aiSystem === variant.aiSystem && name === variant.model,
  );
  if (!model || model.isReady) return null;
  const isOnDevice = variant.aiSystem === 'ServiceAi';
  return (
    <p className="caption caution setup__below">
      {isOnDevice ? 'The on-device model is not downloaded.' : `${variant.model} has no key yet.`}{' '}
      <Link className="link" href={isOnDevice ? settingsAddress('on-device') : accessAddress(variant.aiSystem)}>
        {isOnDevice ? 'Download it' : 'Add a key'}
      </Link>
    </p>
  );
}

function RenameDialog({ variant, letter, onChange, onClose }: PartProps & { onClose: () => void }) {
  const [name, setName] = useState(variant.name);
  const save = (): void => {
    onChange({ name: name.trim() });
    onClose();
  };
  return (
    <Dialog
      title={`Rename variant ${letter}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={save}>
            Rename variant
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <TextField label="Name" maxLength={100} placeholder={letter} value={name} onValueChange={setName} />
      </form>
    </Dialog>
  );
}

function VariantMenu({ variant, letter, index, onChange }: PartProps & { index: number }) {
  const { draft, change } = useSetup();
  const [isRenaming, setRenaming] = useState(false);
  const { variants } = draft;
  const moveTo = (to: number) => (): void =>
    change({ variants: variants.toSpliced(index, 1).toSpliced(to, 0, variant) });
  const copy = { ...variant, id: crypto.randomUUID(), name: '' };
  return (
    <>
      <Menu
        align="end"
        groups={[
          [
            { label: 'Make baseline', icon: Flag, onSelect: () => change({ baselineId: variant.id }) },
            { label: 'Rename', icon: Pencil, onSelect: () => requestAnimationFrame(() => setRenaming(true)) },
            {
              label: 'Duplicate',
              icon: Copy,
              isDisabled: variants.length >= maxVariants,
              onSelect: () => change({ variants: variants.toSpliced(index + 1, 0, copy) }),
            },
          ],
          [
            { label: 'Move up', icon: ArrowUp, isDisabled: index === 0, onSelect: moveTo(index - 1) },
            {
              label: 'Move down',
              icon: ArrowDown,
              isDisabled: index === variants.length - 1,
              onSelect: moveTo(index + 1),
            },
          ],
          [
            {
              label: 'Remove',
              icon: Trash2,
              isNegative: true,
              onSelect: () => change({ variants: variants.filter(({ id }) => id !== variant.id) }),
            },
          ],
        ]}
      >
        <IconButton icon={Ellipsis} label={`Variant ${letter}`} size="small" />
      </Menu>
      {isRenaming && (
        <RenameDialog variant={variant} letter={letter} onChange={onChange} onClose={() => setRenaming(false)} />
      )}
    </>
  );
}

function VariantRow({ variant, index }: { variant: VariantDraft; index: number }) {
  const { draft, change, estimate } = useSetup();
  const letter = letterOf(index);
  const problem = useProblemBelow(`variants[${index}]`);
  const cost = estimate.data?.variants[index];
  const isBaseline = draft.baselineId === variant.id || (draft.baselineId === null && index === 0);
  const onChange: ChangeVariant = (changed) =>
    change(({ variants }) => ({
      variants: variants.map((one) => (one.id === variant.id ? { ...one, ...changed } : one)),
    }));
  const fill = (version: PromptVersion): Partial<VariantDraft> => ({
    prompt: { kind: 'version', promptId: version.promptId, versionId: version.id },
    ...(version.model !== null && { model: version.model, aiSystem: version.aiSystem ?? 'ServiceAi' }),
    ...writeParameters(version.configuration),
  });
  const part = { variant, letter, onChange };
  return (
    <li aria-label={`Variant ${letter}`}>
      <div className="setup__variant">
        <span className="column-letter" title={variant.name || undefined}>
          {letter}
        </span>
        <PromptField
          letter={letter}
          prompt={variant.prompt}
          onVersion={(version) => onChange(fill(version))}
          onDraft={(from) => onChange({ ...from, id: variant.id, name: variant.name })}
        />
        <ModelField {...part} />
        <ParametersField {...part} />
        <DataspaceChoice dataspaceIds={variant.dataspaceIds} onChange={(dataspaceIds) => onChange({ dataspaceIds })} />
        <span className="caption tertiary right numbers setup__cost">
          {cost?.cost && cost.runs > 0 ? formatCost(cost.cost.high / cost.runs) : ''}
        </span>
        <span className="setup__end">
          {isBaseline && <Badge isOutlined>Baseline</Badge>}
          <VariantMenu {...part} index={index} />
        </span>
      </div>
      <NotReady variant={variant} />
      {variant.name !== '' && <p className="caption tertiary setup__below">{variant.name}</p>}
      {problem && (
        <p className="caption negative setup__below" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

/** A copy of the last variant; the first one has the model that was used last. */
function variantAfter(last: VariantDraft | undefined): VariantDraft {
  const own = { id: crypto.randomUUID(), name: '' };
  if (last) return { ...last, ...own };
  return { ...own, prompt: null, ...lastUsedModel(), ...writeParameters(null), dataspaceIds: [] };
}

/** What is compared: prompt, model, parameters and grounding of each variant. */
export function VariantsSection() {
  const { draft, change } = useSetup();
  const { variants } = draft;
  const [isVarying, setVarying] = useState(false);
  const problem = useProblem('variants');
  const add = (): void => change({ variants: [...variants, variantAfter(variants.at(-1))] });
  return (
    <section aria-label="Variants">
      <div className="header">
        <h2>Variants</h2>
        <span className="caption tertiary">{variants.length}</span>
        <span className="grow" />
        <Button
          size="small"
          variant="quiet"
          aria-disabled={variants.length === 0 || undefined}
          onClick={() => setVarying(true)}
        >
          Vary models
        </Button>
        <Button size="small" icon={Plus} aria-disabled={variants.length >= maxVariants || undefined} onClick={add}>
          Add variant
        </Button>
      </div>
      {variants.length === 0 ? (
        <p className="setup__hint small secondary">
          A variant is a prompt with a model and its parameters. Add two or more to compare them.
        </p>
      ) : (
        <div className="setup__variants">
          <div className="setup__variant setup__head" aria-hidden="true">
            <span />
            <span>Prompt version</span>
            <span>Model</span>
            <span>Parameters</span>
            <span>Grounding</span>
            <span className="right setup__cost">Per run</span>
            <span />
          </div>
          <ol>
            {variants.map((variant, index) => (
              <VariantRow key={variant.id} variant={variant} index={index} />
            ))}
          </ol>
        </div>
      )}
      {problem && (
        <p className="setup__hint caption negative" role="alert">
          {problem}
        </p>
      )}
      {isVarying && <VaryModels onClose={() => setVarying(false)} />}
    </section>
  );
}
