import { CategorySwatch } from './category-swatch.tsx';
import { categoryNames } from './category-names.ts';
import { exampleTexts } from './examples.ts';

/** Texts to try, while nothing is written. */
export function ExampleList({ onSelect }: { onSelect: (text: string) => void }) {
  return (
    <section className="moderation__passages line-top" aria-label="Examples">
      <div className="header header--line">
        <h2>Examples</h2>
        <span className="caption tertiary truncate">Select one to check it</span>
      </div>
      <div className="scroll">
        <table className="grid">
          <tbody>
            {exampleTexts.map(({ text, category }) => (
              <tr key={text}>
                <td>{category && <CategorySwatch category={category} />}</td>
                <td className="truncate">
                  <button
                    type="button"
                    className="truncate"
                    title={text}
                    aria-label={`${category ? categoryNames[category].name : 'Harmless'}: ${text}`}
                    onClick={() => onSelect(text)}
                  >
                    {text}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
