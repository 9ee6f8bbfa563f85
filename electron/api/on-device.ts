import {
  addOnDeviceModel,
  followOnDevice,
  installOnDeviceModel,
  pauseOnDeviceModel,
  readOnDevice,
  removeOnDeviceModel,
  selectOnDeviceModel,
  type OnDeviceState,
} from '../../shared/contract/on-device.ts';
import type { Log } from '../log.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import { eventQueue } from './event-queue.ts';
import { implement, type Handler } from './handler.ts';
import { followAnswer } from './follow-answer.ts';

async function* states(models: OnDeviceLanguageModels, signal: AbortSignal): AsyncGenerator<OnDeviceState, void, void> {
  const queue = eventQueue<OnDeviceState>({ signal, merge: (_, next) => next });
  queue.push(models.state());
  const unsubscribe = models.subscribe(queue.push);
  try {
    yield* queue;
  } finally {
    unsubscribe();
  }
}

export function onDeviceHandlers(models: OnDeviceLanguageModels, reportFailure: Log): Handler[] {
  const stateAfter = async (change: Promise<void>): Promise<OnDeviceState> => {
    await change;
    return models.state();
  };
  return [
    implement(readOnDevice, () => models.state()),
    implement(followOnDevice, (input) => followAnswer(input, (signal) => states(models, signal), reportFailure)),
    implement(addOnDeviceModel, ({ body }) => stateAfter(models.add(body.address))),
    implement(installOnDeviceModel, ({ parameters }) => stateAfter(models.install(parameters.id))),
    implement(pauseOnDeviceModel, ({ parameters }) => stateAfter(models.pause(parameters.id))),
    implement(selectOnDeviceModel, ({ parameters }) => stateAfter(models.select(parameters.id))),
    implement(removeOnDeviceModel, ({ parameters }) => stateAfter(models.remove(parameters.id))),
  ];
}
