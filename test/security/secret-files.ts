import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOOK_SECRET, KEY } from './canaries.ts'

/** The files that may contain secrets. */
export const PRIVATE: readonly string[] = ['credential', 'hook.secret']

/** A new folder of files that command lines name: documents, and those that contain secrets. */
export function newSecretFiles(): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-secrets-'))
  const document = '<EventStream><Event name="A" status="init" id="00"/></EventStream>'
  writeFileSync(join(folder, 'a.xml'), document)
  writeFileSync(join(folder, 'credential'), `AZURE_STORAGE_KEY=${KEY}\n`, { mode: 0o600 })
  writeFileSync(join(folder, 'hook.secret'), HOOK_SECRET, { mode: 0o600 })
  const hooks = [
    'on-done: {webhook: https://127.0.0.1:1/x, secret-file: hook.secret}',
    'webhooks: {allow: 127.0.0.1, networks: 127.0.0.1}',
  ]
  writeFileSync(join(folder, 'w.yaml'), hooks.join('\n'))
  chmodSync(folder, 0o700)
  mkdirSync(join(folder, 'out'))
  return folder
}
