/** Entry point of the thread that reads long calls; started by `create-call-reader.ts`. */
import { serveCalls } from '../common/worker-server.ts';
import { readCheckedRequest } from './check-prompt.ts';
import { readPassedRequest, readPassedResponse } from './read-call.ts';

const methods = { readCheckedRequest, readPassedRequest, readPassedResponse };

export type CallMethods = typeof methods;

serveCalls(methods);
