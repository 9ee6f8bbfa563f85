import { z } from 'zod';

/** Zod would try `new Function`, which the content security policy blocks and reports. Import this before the first schema. */
z.config({ jitless: true });
