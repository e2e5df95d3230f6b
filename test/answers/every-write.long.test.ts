import { judgeEveryWrite } from './every-write.ts';

judgeEveryWrite(24);
