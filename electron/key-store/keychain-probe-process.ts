import { probeKeychain } from './probe-keychain.ts';

// Its exit status is the answer: a keychain that hangs hangs this process, which can be ended, and not the host. What a slow
// computer needs to start a process is not the keychain's: the host counts from this message.
process.send!('started', () => {
  process.exitCode = probeKeychain() ? 0 : 1;
  process.disconnect();
});
