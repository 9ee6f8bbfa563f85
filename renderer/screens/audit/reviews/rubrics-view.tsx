import { ArrowLeft, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Rubric } from '../../../../shared/contract/rubrics.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatTime } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useDeleteRubric, useRubric, useRubrics } from '../../../queries/rubrics.ts';
import { reviewsAddress, rubricAddress } from '../../../shell/addresses.ts';
import { deleteWithUndo, useDeletions } from '../../../stores/deletions.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { Examples } from './answer-fields.tsx';
import { kindNames } from './answers.ts';
import { RubricForm } from './rubric-form.tsx';

const newRubric = 'new';

/** A version that isn't the latest one: versions never change. */
function OldVersion({ rubric }: { rubric: Rubric }) {
  return (
    <div className="stacked-form">
      {rubric.description && <p className="secondary">{rubric.description}</p>}
      {rubric.items.map((item, index) => (
        <div key={item.id} className="rubric-form__item">
          <p className="medium">
            {index + 1}. {item.question}
          </p>
          <p className="small tertiary">
            {kindNames[item.kind]}
            {item.kind === 'category' && `: ${item.categories.map(({ label }) => label).join(', ')}`}
            {item.isRequired ? ', required' : ', optional'}
          </p>
          {item.description && <p className="small secondary">{item.description}</p>}
          <Examples item={item} />
        </div>
      ))}
    </div>
  );
}

function OpenRubric({ id }: { id: string }) {
  const [version, setVersion] = useState<number | null>(null);
  const rubric = useRubric(id, version);
  const [, navigate] = useLocation();
  const remove = useDeleteRubric();
  useShowPageTitle(rubric.data ? `Rubrics / ${rubric.data.name}` : 'Rubrics');
  function deleteRubric({ name }: Rubric) {
    navigate(rubricAddress());
    deleteWithUndo({
      id,
      text: `Deleted "${name}".`,
      carryOut: () => remove.mutateAsync(id),
      onUndo: () => navigate(rubricAddress(id)),
    });
  }
  return (
    <QueryView query={rubric} subject="the rubric">
      {(found) => (
        <div className="review__page">
          <div className="row">
            <h3 className="object-title truncate">{found.name}</h3>
            <span className="grow" />
            <span className="caption tertiary nowrap">{formatPlural(found.queueCount, 'queue')}</span>
            <Select
              label="Version"
              value={String(found.version)}
              onValueChange={(chosen) => setVersion(Number(chosen) === found.latestVersion ? null : Number(chosen))}
              options={Array.from({ length: found.latestVersion }, (_, index) => ({
                value: String(found.latestVersion - index),
                label: `Version ${found.latestVersion - index}`,
              }))}
            />
          </div>
          <p className="caption tertiary">Saved {formatTime(found.updatedAt)}</p>
          {found.version === found.latestVersion ? (
            <RubricForm key={found.version} rubric={found} onSaved={() => setVersion(null)} />
          ) : (
            <OldVersion rubric={found} />
          )}
          {found.queueCount === 0 && (
            <div className="row">
              <Button variant="negative" icon={Trash2} onClick={() => deleteRubric(found)}>
                Delete rubric
              </Button>
            </div>
          )}
        </div>
      )}
    </QueryView>
  );
}

function RubricPage({ rubricId }: { rubricId: string | null }) {
  const [, navigate] = useLocation();
  if (rubricId === newRubric)
    return (
      <div className="review__page">
        <RubricForm rubric={null} onSaved={({ id }) => navigate(rubricAddress(id))} />
      </div>
    );
  if (rubricId !== null) return <OpenRubric key={rubricId} id={rubricId} />;
  return (
    <div className="list-state">
      <EmptyState
        title="A rubric is what reviewers answer"
        reason="Its items are questions with yes or no, categories, a score from −10 to +10 or a text. A review queue keeps the version that it was made with."
      >
        <Button variant="primary" icon={Plus} onClick={() => navigate(rubricAddress(newRubric))}>
          New rubric
        </Button>
      </EmptyState>
    </div>
  );
}

/** The rubrics, with one open; null is none. */
export function RubricsView({ rubricId }: { rubricId: string | null }) {
  const [, navigate] = useLocation();
  const rubrics = useRubrics();
  const deleted = useDeletions(({ ids }) => ids);
  useShowPageTitle('Rubrics');
  return (
    <>
      <div className="toolbar">
        <Button variant="quiet" icon={ArrowLeft} onClick={() => navigate(reviewsAddress)}>
          Review queues
        </Button>
        <h2 className="section-title">Rubrics</h2>
        <span className="grow" />
        <Button icon={Plus} onClick={() => navigate(rubricAddress(newRubric))}>
          New rubric
        </Button>
      </div>
      <div className="rubrics">
        <nav className="rubrics__list panel--inset line-right" aria-label="Rubrics">
          <QueryView query={rubrics} subject="the rubrics">
            {(all) =>
              all
                .filter(({ id }) => !deleted.has(id))
                .map(({ id, name, latestVersion }) => (
                  <a
                    key={id}
                    className={id === rubricId ? 'view is-selected' : 'view'}
                    href={`#${rubricAddress(id)}`}
                    aria-current={id === rubricId ? 'page' : undefined}
                    onClick={(event) => {
                      event.preventDefault();
                      navigate(rubricAddress(id));
                    }}
                  >
                    <span className="grow truncate">{name}</span>
                    <span className="caption tertiary nowrap">v{latestVersion}</span>
                  </a>
                ))
            }
          </QueryView>
        </nav>
        <RubricPage rubricId={rubricId} />
      </div>
    </>
  );
}
