import { connectToParent } from '../child-process/parent-connection.ts';
import { probeKeychain } from './keychain.ts';

// A keychain that hangs blocks this process, which can be ended, instead of the host. The host measures from the first message,
// because a slow computer takes time to start a process.
const { send } = connectToParent<never, 'started' | 'works' | 'fails'>();
send('started');

function probe(): boolean {
  try {
    return probeKeychain();
  } catch {
    return false;
  }
}

// The first message is sent before the process may block.
setImmediate(() => send(probe() ? 'works' : 'fails'));
