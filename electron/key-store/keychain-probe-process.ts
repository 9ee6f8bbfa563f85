import { connectToParent } from '../child-process/parent-connection.ts';
import { probeKeychain } from './keychain.ts';

// A keychain that hangs blocks this process, which can be ended, and not the host. The host counts from the first message: the
// time that a slow computer takes to start a process is not the keychain's.
const { send } = connectToParent<never, 'started' | 'works' | 'fails'>();
send('started');

function probe(): boolean {
  try {
    return probeKeychain();
  } catch {
    return false;
  }
}

// The first message leaves before the process may block.
setImmediate(() => send(probe() ? 'works' : 'fails'));
