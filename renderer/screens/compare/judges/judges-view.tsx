import { ArrowLeft, Plus, Trash2 } from 'lucide-react';
import { useLocation } from 'wouter';
import type { Judge } from '../../../../shared/contract/judges.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useDeleteJudge, useJudge, useJudges } from '../../../queries/judges.ts';
import { judgeAddress } from '../../../shell/addresses.ts';
import { deleteWithUndo, useDeletions } from '../../../stores/deletions.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { Calibration } from './calibration.tsx';
import { JudgeForm } from './judge-form.tsx';
import './judges.css';

const newJudge = 'new';

function OpenJudge({ id }: { id: string }) {
  const judge = useJudge(id);
  const [, navigate] = useLocation();
  const remove = useDeleteJudge();
  useShowPageTitle(judge.data ? `Judges / ${judge.data.name}` : 'Judges');
  function deleteJudge({ name }: Judge) {
    navigate(judgeAddress());
    deleteWithUndo({
      id,
      text: `Deleted "${name}".`,
      carryOut: () => remove.mutateAsync(id),
      onUndo: () => navigate(judgeAddress(id)),
    });
  }
  return (
    <QueryView query={judge} subject="the judge">
      {(found) => (
        <div className="judges__page">
          <JudgeForm key={found.updatedAt} judge={found} onSaved={() => {}} />
          <Calibration judge={found} />
          <div className="row">
            <Button variant="negative" icon={Trash2} onClick={() => deleteJudge(found)}>
              Delete judge
            </Button>
          </div>
        </div>
      )}
    </QueryView>
  );
}

function JudgePage({ judgeId }: { judgeId: string | null }) {
  const [, navigate] = useLocation();
  if (judgeId === newJudge) {
    return (
      <div className="judges__page">
        <JudgeForm judge={null} onSaved={({ id }) => navigate(judgeAddress(id))} />
      </div>
    );
  }
  if (judgeId !== null) return <OpenJudge key={judgeId} id={judgeId} />;
  return (
    <div className="list-state">
      <EmptyState
        title="A judge is a model that gives verdicts on answers"
        reason="Its verdicts count after you have labelled at least 30 answers or pairs by hand and it agrees with you."
      >
        <Button variant="primary" icon={Plus} onClick={() => navigate(judgeAddress(newJudge))}>
          New judge
        </Button>
      </EmptyState>
    </div>
  );
}

/** The judges, with one open; null is none. */
export function JudgesView({ judgeId }: { judgeId: string | null }) {
  const [, navigate] = useLocation();
  const judges = useJudges();
  const deleted = useDeletions(({ ids }) => ids);
  useShowPageTitle('Judges');
  return (
    <>
      <div className="toolbar">
        <Button variant="quiet" icon={ArrowLeft} onClick={() => navigate('/compare')}>
          Comparisons
        </Button>
        <h2 className="section-title">Judges</h2>
        <span className="grow" />
        <Button icon={Plus} onClick={() => navigate(judgeAddress(newJudge))}>
          New judge
        </Button>
      </div>
      <div className="judges">
        <nav className="judges__list panel--inset line-right" aria-label="Judges">
          <QueryView query={judges} subject="the judges">
            {(all) =>
              all
                .filter(({ id }) => !deleted.has(id))
                .map(({ id, name, calibration }) => (
                  <a
                    key={id}
                    className={id === judgeId ? 'view is-selected' : 'view'}
                    href={`#${judgeAddress(id)}`}
                    aria-current={id === judgeId ? 'page' : undefined}
                    onClick={(event) => {
                      event.preventDefault();
                      navigate(judgeAddress(id));
                    }}
                  >
                    <span className="grow truncate">{name}</span>
                    <span className="caption tertiary nowrap">
                      {calibration.isCalibrated ? 'Calibrated' : formatPlural(calibration.labels, 'label')}
                    </span>
                  </a>
                ))
            }
          </QueryView>
        </nav>
        <JudgePage judgeId={judgeId} />
      </div>
    </>
  );
}
