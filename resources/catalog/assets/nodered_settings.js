// Settings of the flow editor: no tour, no news, no catalogue of other machines, flows in a readable file.
module.exports = {
  flowFile: "flows.json",
  flowFilePretty: true,
  credentialSecret: "taskloom",
  fileWorkingDirectory: process.env.HOME,
  telemetry: { enabled: false, updateNotification: false },
  externalModules: { palette: { allowInstall: false }, modules: { allowInstall: false } },
  functionExternalModules: false,
  diagnostics: { enabled: false },
  logging: { console: { level: "warn", metrics: false, audit: false } },
  editorTheme: {
    page: { css: require("path").join(__dirname, "theme.css") },
    tours: false,
    projects: { enabled: false },
    palette: { editable: false, catalogues: [] },
    codeEditor: { lib: "ace" },
  },
};
