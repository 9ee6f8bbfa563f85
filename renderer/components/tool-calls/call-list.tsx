import { useState } from 'react';
import type { ToolCallCheck } from '../../../shared/contract/schemas.ts';
import type { ToolCall, ToolResult } from '../../../shared/contract/tools.ts';
import { Badge } from '../badges.tsx';
import { CallCard, callNames, CallPart, SentResult } from './call-card.tsx';

interface SentCallProps {
  call: ToolCall;
  name: string;
  result: ToolResult | undefined;
  check: ToolCallCheck | undefined;
  isGrowing: boolean;
  isOpenAtFirst: boolean;
}

function SentCall({ call, name, result, check, isGrowing, isOpenAtFirst }: SentCallProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <CallCard
      call={call}
      name={name}
      isGrowing={isGrowing}
      check={check}
      isOpen={isOpen}
      onOpenChange={setOpen}
      end={result?.isError && <Badge tone="caution">Error result</Badge>}
    >
      {result && (
        <CallPart title="Result">
          <SentResult name={name} content={result.content} />
        </CallPart>
      )}
    </CallCard>
  );
}

/** More cards than this are closed at first. */
const maxOpenCalls = 20;

const noResults: readonly ToolResult[] = [];

export interface CallListProps {
  calls: readonly ToolCall[];
  results?: readonly ToolResult[];
  checks?: readonly ToolCallCheck[] | undefined;
  isGrowing?: boolean;
}

/** The calls of an answer with the results that were sent. */
export function CallList({ calls, results = noResults, checks, isGrowing = false }: CallListProps) {
  const names = callNames(calls);
  return (
    <div className="calls" role="group" aria-label="Tool calls">
      {calls.map((call, index) => (
        <SentCall
          key={index}
          call={call}
          name={names[index]!}
          result={results.find(({ toolCallId }) => toolCallId === call.id)}
          check={checks?.[index]}
          isGrowing={isGrowing}
          isOpenAtFirst={calls.length <= maxOpenCalls}
        />
      ))}
    </div>
  );
}
