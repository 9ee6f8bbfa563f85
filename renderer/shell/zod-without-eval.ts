import { z } from 'zod';

/** Zod otherwise tries `new Function`, which the content security policy refuses and reports. Before the first schema. */
z.config({ jitless: true });
