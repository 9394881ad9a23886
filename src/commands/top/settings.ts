import { readFileSync } from 'node:fs'
import { shellWord } from '../../cli/command-line.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { configFolder, createUserFolder, dashboardPath, replaceUserFile, statusOf } from '../../cli/user-files.ts'
import type { DashboardSettings, SavedView, SettingsChange, SettingsFile } from '../../tui/settings.ts'
import { errorCode } from '../../util/errors.ts'
import { visibleText } from '../../util/visible-text.ts'

/** The settings of the dashboard in `top.json`, in the folder of settings. */
export function settingsFile({ env }: Pick<Runtime, 'env'>): SettingsFile {
  const path = dashboardPath(env)
  return {
    read() {
      try {
        const { settings, damaged } = settingsOf(readFields(path))
        const fault = damaged.length === 0 ? undefined : `${path}: ${damaged.join(', ')} cannot be used`
        return { settings, fault: fault && visibleText(fault) }
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        return { settings: settingsOf({}).settings, fault: visibleText(error.message) }
      }
    },
    save(change) {
      const fields = changedFields(readFields(path), change)
      createUserFolder(configFolder(env))
      replaceUserFile(path, `${JSON.stringify(fields, null, 2)}\n`)
      return settingsOf(fields).settings
    },
  }
}

/** A file of settings larger than this is not one of ours. */
const MAX_BYTES = 1024 * 1024
/** Increases when an older version could misread a newer file. */
const VERSION = 1

type Fields = Readonly<Record<string, unknown>>

/** The fields of the file, also unknown ones; none if there is no file. @throws UsageError */
function readFields(path: string): Fields {
  const text = readText(path)
  if (text === undefined) return {}
  let fields: Fields | undefined
  try {
    fields = objectOf(JSON.parse(text))
  } catch {
    // said below
  }
  if (fields === undefined)
    throw new UsageError(`${path} is not a JSON object, so nothing is read from it or saved`, {
      hint: `Repair it, or remove it: rm ${shellWord(path)}`,
    })
  if (typeof fields.version === 'number' && fields.version > VERSION)
    throw new UsageError(`${path} was written by a newer leasectl, so nothing is read from it or saved`)
  return fields
}

function readText(path: string): string | undefined {
  const found = statusOf(path)
  if (found === undefined) return undefined
  // checked before reading, which would block on a pipe
  if (!found.isFile()) throw new UsageError(`${path} is not a file`)
  if (found.size > MAX_BYTES) throw new UsageError(`${path} is too large`)
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new UsageError(`${path} cannot be read (${errorCode(cause) ?? 'unknown reason'})`, { cause })
  }
}

function changedFields(fields: Fields, change: SettingsChange): Fields {
  const changed: Record<string, unknown> = { ...fields, version: VERSION }
  for (const [part, values] of Object.entries(change)) {
    const entries = new Map(Object.entries(objectOf(fields[part]) ?? {}))
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) entries.delete(name)
      // what a newer version keeps with it stays
      else entries.set(name, Array.isArray(value) ? value : { ...objectOf(entries.get(name)), ...value })
    }
    changed[part] = Object.fromEntries(entries)
  }
  return changed
}

interface ReadSettings {
  readonly settings: DashboardSettings
  /** Paths of values that are not what they should be. */
  readonly damaged: readonly string[]
}

function settingsOf(fields: Fields): ReadSettings {
  const damaged: string[] = []
  const part = <Value>(name: keyof DashboardSettings, parse: (value: unknown) => Value | undefined) => {
    const entries = fields[name] === undefined ? {} : objectOf(fields[name])
    if (entries === undefined) damaged.push(name)
    const values = Object.entries(entries ?? {}).flatMap(([key, raw]) => {
      const value = parse(raw)
      if (value === undefined) damaged.push(`${name}.${key}`)
      return value === undefined ? [] : [[key, value] as const]
    })
    return Object.fromEntries(values)
  }
  return { settings: { columns: part('columns', textsOf), views: part('views', viewOf) }, damaged }
}

function objectOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every(item => typeof item === 'string') ? value : undefined
}

function viewOf(value: unknown): SavedView | undefined {
  const { screen, filter = '', onlyBroken = false, sort } = objectOf(value) ?? {}
  if (typeof screen !== 'string' || typeof filter !== 'string' || typeof onlyBroken !== 'boolean') return undefined
  const order = sort === undefined ? undefined : sortOf(sort)
  return sort !== undefined && order === undefined ? undefined : { screen, filter, onlyBroken, sort: order }
}

function sortOf(value: unknown): SavedView['sort'] {
  const { by, isDescending = false } = objectOf(value) ?? {}
  return typeof by === 'string' && typeof isDescending === 'boolean' ? { by, isDescending } : undefined
}
