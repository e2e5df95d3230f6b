import { expect, it } from 'vitest';
import { byRequire } from './by-require.ts';

it('requires what is of Node, in every form of import, and lets the rest be', () => {
  const text = `import fs from "node:fs";
import * as path from "path";
import { join as join2, resolve } from "node:path";
import {
  createServer,
  get as get2
} from "node:http";
import events, { once } from "node:events";
import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);
import { a } from "./chunk-A.js";
import "./chunk-B.js";
const said = 'import fs from "node:fs";';`;
  expect(byRequire(text)).toBe(`const fs = require("node:fs");
const path = require("path");
const { join: join2, resolve } = require("node:path");
const {
  createServer,
  get: get2
} = require("node:http");
const events = require("node:events"), { once } = events;
import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);
import { a } from "./chunk-A.js";
import "./chunk-B.js";
const said = 'import fs from "node:fs";';`);
});
