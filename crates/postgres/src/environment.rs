//! Completes an address as libpq does: from the service file, the environment and the password file, in this order. A setting
//! of a service takes precedence over an environment variable.

use std::fs;
use std::path::{Path, PathBuf};

use crate::passfile;
use crate::url::ConnectionSettings;

/// The environment variable of each setting.
const VARIABLES: [(&str, &str); 12] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGOPTIONS", "options"),
];

/// The variables of an environment, by their names.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Fills in what is not set; the warnings for the user. The error says why the service cannot be used.
pub fn complete(settings: &mut ConnectionSettings, variables: Variables<'_>) -> Result<Vec<String>, String> {
    let named = settings.get("service").map(str::to_string).or_else(|| variables("PGSERVICE"));
    if let Some(name) = named {
        for (key, value) in service(&name, variables)? {
            settings.add(key, value);
        }
    }
    for (variable, key) in VARIABLES {
        settings.add(key, variables(variable).unwrap_or_default());
    }
    settings.add("user", passfile::system_user(variables).unwrap_or_default());
    if settings.get("password").is_some() {
        return Ok(vec![]);
    }
    let at_home = || variables("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let file = settings.get("passfile").map(PathBuf::from).or_else(at_home);
    let Some(file) = file else { return Ok(vec![]) };
    match passfile::password(&file, settings) {
        Ok(password) => {
            settings.add("password", password.unwrap_or_default());
            Ok(vec![])
        }
        Err(warning) => Ok(vec![warning]),
    }
}

/// The settings of a service: from the file that PGSERVICEFILE names or `.pg_service.conf` at home, then from
/// `pg_service.conf` in the folder that PGSYSCONFDIR names.
fn service(name: &str, variables: Variables<'_>) -> Result<Vec<(&'static str, String)>, String> {
    let at_home = || {
        let file = variables("HOME").map(|home| Path::new(&home).join(".pg_service.conf"));
        file.filter(|file| file.exists())
    };
    let of_user = variables("PGSERVICEFILE").map(PathBuf::from).or_else(at_home);
    let of_system = variables("PGSYSCONFDIR").map(|folder| Path::new(&folder).join("pg_service.conf"));
    let of_system = of_system.filter(|file| file.exists());
    let mut looked = Vec::new();
    for file in [of_user, of_system].into_iter().flatten() {
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| format!("the service file {} cannot be read: {error}", file.display()))?;
        if let Some(settings) = section(&text, name)
            .map_err(|line| format!("line {line} of the service file {} is not a known setting", file.display()))?
        {
            return Ok(settings);
        }
        looked.push(file.display().to_string());
    }
    // Its name is not quoted: it may be next to a password in an address.
    Err(match looked.as_slice() {
        [] => "it names a service, and there is no service file; name one with PGSERVICEFILE".to_string(),
        files => format!("the service that it names is not in {}", files.join(" or ")),
    })
}

/// The settings in the first section of this name; on error, the number of the line that is no setting.
fn section(text: &str, name: &str) -> Result<Option<Vec<(&'static str, String)>>, usize> {
    let heading = format!("[{name}]");
    let lines = text.lines().map(str::trim).zip(1_usize..);
    let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    if lines.by_ref().all(|(line, _)| !line.starts_with(&heading)) {
        return Ok(None);
    }
    let mut settings = Vec::new();
    for (line, number) in lines.take_while(|(line, _)| !line.starts_with('[')) {
        let (key, value) = line.split_once('=').ok_or(number)?;
        // A service cannot name another one.
        let key = ConnectionSettings::known(key).filter(|key| *key != "service").ok_or(number)?;
        settings.push((key, value.to_string()));
    }
    Ok(Some(settings))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A home with files that only their owner reads.
    fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = home.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        home
    }

    /// The settings of a URL in an environment, by name, and the warnings.
    fn complete_in(url: &str, home: &Path, more: &[(&str, &str)]) -> Result<(ConnectionSettings, Vec<String>), String> {
        let variables = |name: &str| {
            let given = more.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
            given.or_else(|| (name == "HOME").then(|| home.display().to_string()))
        };
        let mut settings = ConnectionSettings::of_url(url)?;
        complete(&mut settings, &variables).map(|warnings| (settings, warnings))
    }

    const SERVICES: &str =
        "# comment\n[other]\nhost=o\n[mine]\n  host=s\nport=1\npassword=of service\n#x\nuser=u\nuser=v\n[z]\n?";

    #[test]
    fn an_address_goes_before_the_service_and_that_before_the_environment_and_that_before_the_password_file() {
        let home = home(&[(".pg_service.conf", SERVICES), (".pgpass", "*:*:*:*:of file\n")]);
        let variables =
            [("PGHOST", "e"), ("PGPORT", "2"), ("PGUSER", "w"), ("PGDATABASE", "d"), ("PGPASSWORD", "of environment")];
        let password = |url: &str, more: &[(&str, &str)]| {
            let (settings, warnings) = complete_in(url, home.path(), more).unwrap();
            assert_eq!(warnings, [""; 0]);
            let get = |key| settings.get(key).unwrap_or_default().to_string();
            [get("host"), get("port"), get("user"), get("dbname"), get("password")].join(" ")
        };
        let with_service = [&variables[..], &[("PGSERVICE", "mine")]].concat();
        assert_eq!(password("postgres://a:mine@h:9/x?service=mine", &variables), "h 9 a x mine");
        assert_eq!(password("postgres://?service=mine", &variables), "s 1 u d of service");
        assert_eq!(password("postgres://", &with_service), "s 1 u d of service");
        assert_eq!(password("postgres:///x", &variables), "e 2 w x of environment");
        assert_eq!(password("postgres://b@h/x", &[]), "h  b x of file");
    }

    #[test]
    fn a_service_that_is_not_there_or_not_written_well_is_refused_by_file_and_line() {
        let folder = home(&[(".pg_service.conf", SERVICES), ("pg_service.conf", "[system]\nhost=y\n")]);
        let refused = |url: &str, more: &[(&str, &str)]| complete_in(url, folder.path(), more).err().unwrap();
        assert!(refused("postgres://?service=zq", &[]).contains("not in"));
        assert!(!refused("postgres://?service=zq", &[]).contains("zq"));
        assert!(refused("postgres://?service=z", &[]).contains("line 12 of the service file"));
        let none = [("PGSERVICEFILE", "/no/such/file")];
        assert!(refused("postgres://?service=mine", &none).contains("/no/such/file cannot be read"));
        let nowhere = home(&[]);
        let error = complete_in("postgres://?service=mine", nowhere.path(), &[]).err().unwrap();
        assert!(error.contains("PGSERVICEFILE"), "{error}");
        // The system's file is looked into last.
        let system = [("PGSYSCONFDIR", folder.path().to_str().unwrap())];
        let (found, _) = complete_in("postgres://?service=system", folder.path(), &system).unwrap();
        assert_eq!(found.get("host"), Some("y"));
    }

    #[test]
    fn a_password_file_that_others_may_read_is_not_used_and_that_is_said() {
        let home = home(&[(".pgpass", "*:*:*:*:secret\n"), ("mine", "h:5432:x:b:own\n")]);
        let file = home.path().join("mine").display().to_string();
        let (settings, _) = complete_in("postgres://b@h/x", home.path(), &[("PGPASSFILE", &file)]).unwrap();
        assert_eq!(settings.get("password"), Some("own"));
        fs::set_permissions(home.path().join(".pgpass"), fs::Permissions::from_mode(0o640)).unwrap();
        let (settings, warnings) = complete_in("postgres://b@h/x", home.path(), &[]).unwrap();
        assert_eq!(settings.get("password"), None);
        assert!(warnings[0].contains(".pgpass is not used: others may read it"), "{warnings:?}");
        let (settings, warnings) = complete_in("postgres://b@h/x?passfile=/no", home.path(), &[]).unwrap();
        assert_eq!((settings.get("password"), warnings.len()), (None, 0));
    }
}
