"""Everything that knows pytest besides the plugin itself."""
