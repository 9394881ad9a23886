/** What the dashboard keeps from run to run. */
export interface DashboardSettings {
  /** Titles of the chosen columns of a list, in order; a list without an entry has its usual ones. */
  readonly columns: Readonly<Record<string, readonly string[]>>
  /** Saved views by name. */
  readonly views: Readonly<Record<string, SavedView>>
}

/** A list as it was left: which, what of it, in which order. */
export interface SavedView {
  /** Name of its screen, which an older version may not have. */
  readonly screen: string
  readonly filter: string
  readonly onlyBroken: boolean
  readonly sort: { readonly by: string; readonly isDescending: boolean } | undefined
}

export const NO_SETTINGS: DashboardSettings = { columns: {}, views: {} }

/** New values by name; `undefined` removes one. What is not named stays as it is. */
export type SettingsChange = {
  readonly [Part in keyof DashboardSettings]?: Readonly<Record<string, DashboardSettings[Part][string] | undefined>>
}

/** The file of settings. */
export interface SettingsFile {
  /** The settings that can be read; `fault` says in one safe line what could not. Never throws. */
  read(): { readonly settings: DashboardSettings; readonly fault: string | undefined }
  /**
   * Changes the file as it is by now: other dashboards write to it too. What this version does not know stays.
   *
   * @returns all settings
   * @throws if the file is damaged or cannot be written; then it is unchanged
   */
  save(change: SettingsChange): DashboardSettings
}
