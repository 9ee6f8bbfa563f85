import type { ReactNode } from 'react';
import type { BlindVote } from '../../../../shared/contract/blind-votes.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { formatCost, formatPlural } from '../../../components/format.ts';

function versionWords(variants: Comparison['variants'], name: string): string {
  const variant = variants.find((one) => one.name === name);
  if (variant?.versionNumber != null) return `Version ${variant.versionNumber}`;
  return variant?.promptVersionId == null ? 'Own prompt' : 'Deleted version';
}

interface VoteResultProps {
  vote: BlindVote;
  variants: Comparison['variants'];
  children: ReactNode;
}

/** The end of a blind vote: which variant is preferred, and which answers were whose. */
export function VoteResult({ vote, variants, children }: VoteResultProps) {
  const { result, question, counts } = vote;
  if (!result) return null;
  return (
    <div className="vote__page">
      <div>
        <p className="small secondary">{question}</p>
        <h2 className="page-title">{result.sentence}</h2>
        <p className="small tertiary">
          {formatPlural(counts.voted, 'pair')} of {counts.pairs}: {counts.decided} decided, {counts.ties} tied,{' '}
          {counts.bothBad} both bad, {counts.identical} identical, {counts.skipped} skipped
          {result.probability !== null && `; sign test p = ${result.probability.toPrecision(2)}`}
        </p>
      </div>
      <table className="vote__table">
        <caption className="visually-hidden">Variants</caption>
        <thead className="caption tertiary">
          <tr>
            <th scope="col">Variant</th>
            <th scope="col">Model</th>
            <th scope="col">Prompt version</th>
            <th scope="col" className="numbers">
              Wins
            </th>
            <th scope="col" className="numbers">
              Cost per run
            </th>
          </tr>
        </thead>
        <tbody>
          {result.variants.map(({ name, model, wins, cost }) => (
            <tr key={name}>
              <th scope="row" className="strong">
                {name}
              </th>
              <td className="mono--small">{model}</td>
              <td>{versionWords(variants, name)}</td>
              <td className="numbers">{wins}</td>
              <td className="numbers">{cost === null ? 'Unknown' : formatCost(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {result.agreements.map(({ judge, sentence }, index) => (
        <p key={index} className="small">
          <span className="strong">{judge}</span> <span className="secondary">{sentence}</span>
        </p>
      ))}
      {result.people && (
        <p className="small">
          <span className="strong">Agreement</span> <span className="secondary">{result.people.sentence}</span>
        </p>
      )}
      <div className="row">{children}</div>
    </div>
  );
}
