import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'
import type { Template } from './template.ts'

/** Reads a template in YAML or XML. A text that begins with `<` is XML. @param flag the flag that named it */
export async function readTemplate(path: string, runtime: Runtime, flag = '--from'): Promise<Template> {
  const bytes = path === '-' ? await runtime.stdin.readBytes() : await fileBytes(path, runtime, flag)
  try {
    const text = decodeDocument(bytes)
    if (text.trimStart().startsWith('<')) return (await import('./template-xml.ts')).xmlTemplate(text)
    return (await import('./template-yaml.ts')).yamlTemplate(text)
  } catch (error) {
    if (!(error instanceof LeasectlError)) throw error
    throw new UsageError(`${flag} ${path}: ${error.message}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    })
  }
}

async function fileBytes(path: string, runtime: Runtime, flag: string): Promise<Uint8Array> {
  try {
    return await runtime.readFile(path)
  } catch (error) {
    throw new UsageError(`${flag} ${path} cannot be read`, {
      cause: error,
      hint: error instanceof Error ? error.message : String(error),
    })
  }
}
