import { ChevronDown, MessageCircleQuestionMark, Search, SquareTerminal } from 'lucide-react';
import type { RefObject } from 'react';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { IconButton } from '../../components/icon-button.tsx';
import { modelKey, shortName } from '../../components/models/model-list.ts';
import { ModelPicker } from '../../components/models/model-picker.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAnswerModel } from '../../stores/knowledge.ts';

export interface SearchBarProps {
  field: RefObject<HTMLInputElement | null>;
  dataspaceName: string;
  text: string;
  onText: (text: string) => void;
  onSearch: () => void;
  onAsk: () => void;
  /** Escape in the field. */
  onEscape: () => void;
  onUseInPlayground: () => void;
  isPickingModel: boolean;
  onPickingModel: (isPicking: boolean) => void;
}

function ModelChoice({ isPickingModel, onPickingModel }: Pick<SearchBarProps, 'isPickingModel' | 'onPickingModel'>) {
  const model = useAnswerModel();
  const choose = ({ aiSystem, name }: Parameters<typeof modelKey>[0]): void => {
    useAnswerModel.setState({ aiSystem, name });
    onPickingModel(false);
  };
  return (
    <>
      <Button
        variant="quiet"
        className="knowledge__model"
        aria-haspopup="dialog"
        aria-label={`Model for answers: ${model.name}`}
        title={`Model for answers: ${model.name}`}
        onClick={() => onPickingModel(true)}
      >
        <span className="truncate">{shortName(model)}</span>
        <Icon icon={ChevronDown} size="small" />
      </Button>
      <ModelPicker
        isOpen={isPickingModel}
        chosenKey={modelKey(model)}
        onChoose={choose}
        onChooseAndRun={choose}
        onClose={() => onPickingModel(false)}
      />
    </>
  );
}

/** One field for both: search finds passages, ask has a model answer from them. */
export function SearchBar(props: SearchBarProps) {
  const { field, dataspaceName, text, onText, onSearch, onAsk, onEscape, onUseInPlayground } = props;
  const isEmpty = text.trim() === '';
  return (
    <form
      className="toolbar knowledge__search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch();
      }}
    >
      <TextField
        ref={field}
        label={`Search ${dataspaceName}`}
        isLabelHidden
        icon={Search}
        placeholder={`Search "${dataspaceName}"`}
        maxLength={10_000}
        value={text}
        onValueChange={onText}
        onKeyDown={(event) => event.key === 'Escape' && onEscape()}
      />
      <div className="row knowledge__acts">
        <Button type="submit" aria-disabled={isEmpty}>
          Search
        </Button>
        <Button
          variant="primary"
          icon={MessageCircleQuestionMark}
          keys="Mod+Enter"
          aria-disabled={isEmpty}
          onClick={onAsk}
        >
          Ask
        </Button>
        <ModelChoice {...props} />
        <IconButton icon={SquareTerminal} label="Use in playground" onClick={onUseInPlayground} />
      </div>
    </form>
  );
}
