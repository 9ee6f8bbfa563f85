import { Info } from 'lucide-react';
import { IconButton } from '../../components/icon-button.tsx';
import { Popover } from '../../components/popover.tsx';
import { categoryNames } from './category-names.ts';
import { cardFigures } from './model-card-figures.ts';

/** What the classifier on the device can do and what it cannot, with its figures. */
export function ModelCard() {
  return (
    <Popover
      label="About the on-device classifier"

      trigger={<IconButton icon={Info} label="About the on-device classifier" size="small" />}
    >
      <div className="moderation-card">
        <h3 className="strong">On-device classifier</h3>
        <p className="small secondary">
          Sorts texts and points at what should be read; not made to decide about a person. At its own thresholds it
          misses most harassment, hatred, violence and self-harm, so that everyday texts are left in peace. Lower them
          where missing is worse than a false flag.
        </p>
        <table className="grid">
          <thead>
            <tr>
              <th>Category</th>
              <th className="right">Texts</th>
              <th className="right">AUPRC</th>
              <th className="right">Precision</th>
              <th className="right">Recall</th>
            </tr>
          </thead>
          <tbody>
            {cardFigures.map(({ category, positive, auprc, precision, recall }) => (
              <tr key={category}>
                <td>{categoryNames[category].name}</td>
                <td className="right numbers">{positive}</td>
                <td className="right numbers">{auprc}</td>
                <td className="right numbers">{precision}</td>
                <td className="right numbers">{recall}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <ul className="small secondary">
          <li>
            Cross-validated on 843 texts of OpenAI&apos;s public set; somewhat too good, since variants were chosen by
            it.
          </li>
          <li>English only. Scores of other languages mean little.</li>
          <li>
            Irony, veiled threats and what needs a whole conversation may be missed. Who wants around it gets around it.
          </li>
          <li>Very short texts, sex education, art and recovery from self-harm are flagged falsely more often.</li>
        </ul>
      </div>
    </Popover>
  );
}
