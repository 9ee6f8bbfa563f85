import { Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { EndpointPrice } from '../../../shared/contract/settings.ts';
import { Button } from '../../components/button.tsx';
import { describeError, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useModels } from '../../queries/providers.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';

/** A gateway can list hundreds of models; each row has two inputs. */
const maxRows = 50;
const maxPrice = 100_000;

interface PriceTexts {
  input: string;
  output: string;
}

/** Digits without an exponent or grouping, as `parsePrice` reads them. */
function textOfPrice(price: number): string {
  return price.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 });
}

function textsOfPrices({ inputPrice, outputPrice }: EndpointPrice): PriceTexts {
  return { input: textOfPrice(inputPrice), output: textOfPrice(outputPrice) };
}

function parsePrice(text: string): number | null {
  const price = /^[\d.]{1,24}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return price >= 0 && price <= maxPrice ? price : null;
}

/** What is wrong with the prices of one model; null when they are valid or both empty. */
function problemOf({ input, output }: PriceTexts): string | null {
  const texts = [input, output].filter((text) => text.trim() !== '');
  if (texts.some((text) => parsePrice(text) === null)) return 'Must be a number from 0 to 100,000';
  return texts.length === 1 ? 'Enter both prices or neither' : null;
}

function PriceRow({
  name,
  texts,
  problem,
  onChange,
}: {
  name: string;
  texts: PriceTexts;
  problem: string | undefined;
  onChange: (texts: PriceTexts) => void;
}) {
  const field = (side: 'input' | 'output', label: string) => (
    <TextField
      label={`${label} price of ${name}`}
      isLabelHidden
      size="small"
      inputMode="decimal"
      maxLength={24}
      value={texts[side]}
      error={side === 'input' ? problem : undefined}
      onValueChange={(text) => onChange({ ...texts, [side]: text })}
    />
  );
  return (
    <tr>
      <td className="mono--small breakable">{name}</td>
      <td>{field('input', 'Input')}</td>
      <td>{field('output', 'Output')}</td>
    </tr>
  );
}

/** What the person typed, by model. */
type PriceChanges = Readonly<Record<string, PriceTexts>>;

function problemsOf(changes: PriceChanges): Record<string, string> {
  const problems = Object.entries(changes).map(([name, texts]) => [name, problemOf(texts)] as const);
  return Object.fromEntries(problems.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The saved prices with the changes, which must be valid. A change to two empty fields removes the price. */
function applyChanges(saved: readonly EndpointPrice[], changes: PriceChanges): EndpointPrice[] {
  const unchanged = saved.filter(({ model }) => !(model in changes));
  const changed = Object.entries(changes).flatMap(([model, { input, output }]) => {
    const [inputPrice, outputPrice] = [parsePrice(input), parsePrice(output)];
    return inputPrice === null || outputPrice === null ? [] : [{ model, inputPrice, outputPrice }];
  });
  return [...unchanged, ...changed];
}

interface PriceTableProps {
  endpoint: string;
  /** Model names with the endpoint's name in front. */
  names: readonly string[];
  textsOf: (name: string) => PriceTexts;
  problems: Readonly<Record<string, string>>;
  onChange: (name: string, texts: PriceTexts) => void;
}

function PriceTable({ endpoint, names, textsOf, problems, onChange }: PriceTableProps) {
  return (
    <table className="table endpoint-prices">
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col">Input, $ per 1M</th>
          <th scope="col">Output, $ per 1M</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <PriceRow
            key={name}
            name={name.slice(endpoint.length + 1)}
            texts={textsOf(name)}
            problem={problems[name]}
            onChange={(texts) => onChange(name, texts)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface PriceFormProps {
  endpoint: string;
  /** Model names with the endpoint's name in front. */
  names: readonly string[];
  prices: readonly EndpointPrice[];
  onDone: () => void;
}

function PriceForm({ endpoint, names, prices, onDone }: PriceFormProps) {
  const update = useUpdateSettings({ isFailureShown: true });
  const [changes, setChanges] = useState<PriceChanges>({});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [filter, setFilter] = useState('');
  const saved = new Map(prices.map((price) => [price.model, textsOfPrices(price)]));
  const textsOf = (name: string) => changes[name] ?? saved.get(name) ?? { input: '', output: '' };
  const change = (name: string, texts: PriceTexts) => {
    setChanges({ ...changes, [name]: texts });
    setProblems({});
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const newProblems = problemsOf(changes);
    setProblems(newProblems);
    if (Object.keys(newProblems).length > 0) return;
    update.mutate({ endpointPrices: applyChanges(prices, changes) }, { onSuccess: onDone });
  };
  const query = filter.trim().toLowerCase();
  const matches = names.filter((name) => name.toLowerCase().includes(query));
  // A row with an error is shown even when the filter hides it.
  const invalid = names.filter((name) => name in problems);
  const shown = [...new Set([...invalid, ...matches])].slice(0, Math.max(maxRows, invalid.length));
  return (
    <form className="settings__form" aria-label={`Prices of ${endpoint}`} onSubmit={submit}>
      {names.length > 8 && (
        <TextField
          label="Filter models"
          isLabelHidden
          placeholder="Filter models"
          icon={Search}
          value={filter}
          onValueChange={setFilter}
        />
      )}
      <PriceTable endpoint={endpoint} names={shown} textsOf={textsOf} problems={problems} onChange={change} />
      <p className="caption tertiary">
        {matches.length > shown.length
          ? `Showing ${shown.length} of ${matches.length} models. Filter to find the others.`
          : 'USD per 1 million tokens. Costs of new runs use these prices. Leave both empty if unknown.'}
      </p>
      {update.error && (
        <p className="caption negative" role="alert">
          {describeError(update.error).message}
        </p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" keys="Enter" isBusy={update.isPending}>
          Save prices
        </Button>
        <Button variant="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** What each model of an endpoint costs. */
export function EndpointPrices({ endpoint, onDone }: { endpoint: string; onDone: () => void }) {
  const models = useModels();
  const settings = useSettings();
  const isOwn = (name: string) => name.startsWith(`${endpoint}/`);
  return (
    <QueryView query={models} subject="the models">
      {({ data }) => (
        <QueryView query={settings} subject="the settings">
          {({ endpointPrices }) => {
            const listed = data.filter((model) => model.aiSystem === 'OpenAiCompatible').map((model) => model.name);
            // A model that left the list keeps its price until someone clears it.
            const names = [...new Set([...listed, ...endpointPrices.map(({ model }) => model)])].filter(isOwn);
            if (names.length > 0)
              return <PriceForm endpoint={endpoint} names={names} prices={endpointPrices} onDone={onDone} />;
            return (
              <p className="setting-panel small secondary">
                No models to price. Test the endpoint to load its models, or add one by name in the model picker.
              </p>
            );
          }}
        </QueryView>
      )}
    </QueryView>
  );
}
